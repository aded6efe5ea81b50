// SPDX-License-Identifier: Apache-2.0
#include "morton/architectures.hpp"

#include "api/inside.hpp"
#include "graph/architectures.hpp"

namespace morton {
using namespace api;

std::vector<ArchitectureInfo> architectures() {
  std::vector<ArchitectureInfo> list;
  for (const Architecture& architecture : all_architectures()) {
    list.push_back({std::string(architecture.name), std::string(architecture.summary)});
  }
  return list;
}

Model new_model(const std::string& architecture, std::uint64_t seed) {
  return Inside::make(build(find_architecture(architecture), seed));
}

}  // namespace morton
