// SPDX-License-Identifier: Apache-2.0
#include "graph/architectures.hpp"

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text/near_names.hpp"

namespace morton::graph {

#define MORTON_ARCHITECTURE(function, name, summary) \
  Graph function(const Architecture& architecture, std::uint64_t seed);
#include "graph/architectures.def"
#undef MORTON_ARCHITECTURE

namespace {

constexpr Architecture kArchitectures[] = {
#define MORTON_ARCHITECTURE(function, name, summary) {name, summary, function},
#include "graph/architectures.def"
#undef MORTON_ARCHITECTURE
};

}  // namespace

std::span<const Architecture> all_architectures() { return kArchitectures; }

const Architecture& find_architecture(std::string_view name) {
  std::string known, near;
  std::vector<std::string_view> names;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return architecture;
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
    names.push_back(architecture.name);
  }
  for (const std::string& one : near_names(name, names)) {
    near += (near.empty() ? "; near it: " : ", ") + one;
  }
  throw UsageError("there is no architecture '" + std::string(name) + "' (known: " + known + ")" +
                   near);
}

Graph build(const Architecture& architecture, std::uint64_t seed) {
  return architecture.build(architecture, seed);
}

}  // namespace morton::graph
