// SPDX-License-Identifier: Apache-2.0
#include "morton/architectures.hpp"

#include <utility>

#include "api/inside.hpp"
#include "graph/architectures.hpp"
#include "passes/new_last_layer.hpp"

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

Model with_classes(const Model& model, std::int64_t classes, std::uint64_t seed) {
  Graph graph = Inside::of(model);
  make_new_last_layer(graph, classes, seed);
  return Inside::make(std::move(graph), Inside::limits_of(model));
}

}  // namespace morton
