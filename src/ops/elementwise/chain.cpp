// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {

/// Not of ONNX: input 0 itself. What such a node computes is its epilogue, over its input 0 and the
/// further ones, which broadcast to its shape. Gradients of elementwise operators are such nodes.
const Operator& operator_Chain() {
  static const Operator kOperator{
      .name = "Chain",
      .since_opset = 1,
      .chain = [](const NodeView& /*node*/) { return Chain{}; },
      .types = all_types(),
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
