// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::autodiff {

/// Has the backward pass compute anew, right before it first reads them, the results of elementwise
/// nodes of the forward pass whose inputs it keeps in any case (or computes anew): these results
/// then need no memory in between. The first `forward_nodes` nodes are the forward pass. Values
/// stay the same, bit for bit. Returns how many results are computed anew.
int recompute(Graph& graph, std::size_t forward_nodes);

}  // namespace morton::autodiff
