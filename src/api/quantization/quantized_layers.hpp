// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::api {

/// A node of a graph that 8 bits can compute: Conv, Gemm or MatMul of an activation and a constant.
struct WeightLayer {
  std::size_t node = 0;     ///< its place among the graph's
  TensorId input, weights;  ///< its operands 0 and 1
  std::size_t channel = 0;  ///< the dimension of the weights that has a scale for each element
  std::optional<TensorId> bias{};  ///< operand 2, where it is a constant with one number a channel
  bool takes_bias = false;         ///< whether a bias may be given or renewed
  TensorId result;                 ///< its output; or that of a Relu or Clip that alone reads it
};

/// In the graph's order.
[[nodiscard]] std::vector<WeightLayer> weight_layers(const Graph& graph);

/// `result` of a layer's twin, behind a twin of the layer's activation where it has one.
[[nodiscard]] TensorId with_activation(Graph& graph, const WeightLayer& layer, TensorId result);

/// Whether every value of the node's result 0 is one of its input 0, so that both have one code.
[[nodiscard]] bool only_moves_values(const Node& node);

}  // namespace morton::api
