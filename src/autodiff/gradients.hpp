// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::autodiff {

/// Adds to the graph the nodes that compute the gradient of `scale` times the sum of `loss` (times
/// the scalar `factor`, if that is given) with respect to each of `wanted`: the sum of what comes
/// back along all paths. Nothing is computed of tensors that lead to none of `wanted`. Returns the
/// gradients, each of its tensor's shape, in the order of `wanted`; kNoTensor for a tensor that the
/// loss does not depend on.
///
/// Shapes must be known (pass infer_shapes), and epilogues not yet fused. The nodes before keep
/// their order. Throws UnsupportedError that names a node on the way that has no gradient.
[[nodiscard]] std::vector<TensorId> add_gradients(Graph& graph, TensorId loss,
                                                  std::span<const TensorId> wanted,
                                                  double scale = 1.0, TensorId factor = kNoTensor);

}  // namespace morton::autodiff
