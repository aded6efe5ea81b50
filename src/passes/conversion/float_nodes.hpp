// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "passes/conversion/conversion.hpp"
#include "passes/conversion/element_types.hpp"

namespace morton::passes {

/// What becomes of each node.
struct HalfChoice {
  enum class Kind : std::uint8_t {
    other,   ///< no operand or result of it is f32
    halves,  ///< computes with halves
    floats,  ///< stays in f32, because `why`
  } kind = Kind::other;
  std::string why{};
};

/// In the order of the graph's nodes.
[[nodiscard]] std::vector<HalfChoice> choose_halves(const Graph& graph, const ElementTypes& types,
                                                    const HalvesOptions& options);

}  // namespace morton::passes
