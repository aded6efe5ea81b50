// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::passes {

/// Gives the network `classes` answers: its last Gemm, MatMul or Conv gets weights for so many, new
/// ones of `seed`, and biases of 0. Throws UsageError that names the node which stands in the way.
void make_new_last_layer(Graph& graph, std::int64_t classes, std::uint64_t seed);

}  // namespace morton::passes
