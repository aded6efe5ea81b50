// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::graph {

/// The chosen nodes as a graph of their own. What they read of others becomes an input, of no type
/// yet. Its outputs are those of `wanted` that they compute.
[[nodiscard]] Graph part_of_graph(const Graph& whole, const std::vector<bool>& chosen,
                                  const std::set<TensorId>& wanted);

}  // namespace morton::graph
