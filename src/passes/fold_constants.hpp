// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::passes {

/// The value of a node of one result, whose type and shape are known and whose inputs are
/// constants. Nothing where the host would round what a device does not.
[[nodiscard]] std::optional<Tensor> value_of_known(const Graph& graph, const Node& node);

}  // namespace morton::passes
