// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::passes {

/// The value of an elementwise node without an epilogue, whose result is real and whose inputs are
/// constants: what the reference gives, element by element, without its bounds of errors. Weights
/// that are stored as small integers take this way at every start, so it matters. Nothing for other
/// nodes, and for inputs of i64 and u64, whose values a double may not hold.
[[nodiscard]] std::optional<Tensor> fold_elementwise(const Graph& graph, const Node& node);

}  // namespace morton::passes
