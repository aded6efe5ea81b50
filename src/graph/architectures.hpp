// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::graph {

/// A network of the literature that can be made with random weights.
struct Architecture {
  std::string_view name;     ///< "r17-digits"
  std::string_view summary;  ///< one line: what it is, layers, input and output
  Graph (*build)(const Architecture& architecture, std::uint64_t seed);
};

/// All there are: to add one, add a builder in src/graph/architectures/ and its line in
/// src/graph/architectures.def.
[[nodiscard]] std::span<const Architecture> all_architectures();

/// Throws UsageError that lists the names.
[[nodiscard]] const Architecture& find_architecture(std::string_view name);

/// The network with He's scheme for weights (RandomNetwork); the same seed gives the same network.
[[nodiscard]] Graph build(const Architecture& architecture, std::uint64_t seed);

/// A small network with a layer for each kernel that interim plans are made of
/// (catalogue/generic.hpp): whoever plans it so and builds that plan has them all.
[[nodiscard]] Graph generic_kernels_network();

}  // namespace morton::graph
