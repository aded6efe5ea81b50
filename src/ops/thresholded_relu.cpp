// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// x where it is above alpha, else 0.
Chain thresholded_relu_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef alpha = ScalarRef::constant(node.real("alpha", 1.0));
  const ScalarRef above = chain.append(ScalarOp::less, {alpha, x});
  chain.append(ScalarOp::select, {above, x, ScalarRef::constant(0.0)});
  return chain;
}

}  // namespace

const Operator& operator_ThresholdedRelu() {
  static const Operator kOperator{
      .name = "ThresholdedRelu",
      .attributes = {"alpha"},
      .since_opset = 10,
      .chain = thresholded_relu_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
