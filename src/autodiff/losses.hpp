// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/optimizer.hpp"

namespace morton::autodiff {

/// What a loss looks at.
struct LossOperands {
  TensorId output = kNoTensor;  ///< the model's, [N, ...]
  TensorId target = kNoTensor;  ///< i32 [N] or f32, as Loss says
};

/// What a loss computes.
struct LossTensors {
  TensorId rows = kNoTensor;   ///< f32 [N]: the loss of each example
  TensorId right = kNoTensor;  ///< f32 [N]: 1 where the first choice is the label; none without one
};

/// Adds the nodes of a loss to the graph. Shapes must be known. Throws UsageError for targets that
/// do not fit the output, and for a cross entropy behind the other one's activation.
[[nodiscard]] LossTensors add_loss(Graph& graph, Loss loss, const LossOperands& operands);

/// The node that computes `id`, by way of others that only give it another shape, or null.
[[nodiscard]] const Node* origin_of(const Graph& graph, TensorId id);

/// Shape and type of the targets for an output of this shape.
struct TargetType {
  DType dtype = DType::f32;
  Shape shape;
};
enum class TargetKind : std::uint8_t { labels, values };
[[nodiscard]] TargetType target_type(const Shape& output, TargetKind kind);

}  // namespace morton::autodiff
