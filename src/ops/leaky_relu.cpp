// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// x above 0, else alpha * x; a NaN stays a NaN. Where it is trained, the slope at 0 is alpha.
Chain leaky_relu_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef alpha = ScalarRef::constant(node.real("alpha", 0.01));
  const ScalarRef above = chain.append(ScalarOp::less, {ScalarRef::constant(0.0), x});
  const ScalarRef leak = chain.append(ScalarOp::mul, {x, alpha});
  chain.append(ScalarOp::select, {above, x, leak});
  return chain;
}

}  // namespace

const Operator& operator_LeakyRelu() {
  static const Operator kOperator{
      .name = "LeakyRelu",
      .attributes = {"alpha"},
      .since_opset = 6,
      .chain = leaky_relu_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
