// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::graph {

/// Bytes of the graph's constants and states, and of those of its nodes' bodies.
[[nodiscard]] std::int64_t parameter_bytes(const Graph& graph);

}  // namespace morton::graph
