// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

/// Values that are known when the model is planned: shape arithmetic, which the host does.

/// The node's values, computed on the host without rounding of whole numbers, where every input (or
/// shape, see `shapes_only`) is known at planning; none where some is not. Throws UnsupportedError
/// for whole numbers that double cannot hold.
[[nodiscard]] std::vector<Tensor> planned_values(const Graph& graph, const Node& node);
/// Marks, for each tensor, whether planning needs its value: some node's planned input depends on
/// it.
[[nodiscard]] Indexed<TensorId, bool> planned_tensors(const Graph& graph);
/// The same for the nodes from `first` to before `end`, where `planned` has what those behind them
/// need.
void mark_planned(const Graph& graph, std::size_t first, std::size_t end,
                  Indexed<TensorId, bool>& planned);
/// The inputs of the graph whose values planning needs, in the graph's order.
[[nodiscard]] std::vector<TensorId> planned_graph_inputs(const Graph& graph);

}  // namespace morton::ops
