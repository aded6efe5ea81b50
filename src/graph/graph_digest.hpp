// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::graph {

/// A digest of everything in the graph: names, nodes with their attributes, declared shapes and the
/// bytes of constants. Reads all of these once, and drops their pages where a file is mapped.
[[nodiscard]] MORTON_FOR_TOOLS std::string graph_digest(const Graph& graph);

}  // namespace morton::graph
