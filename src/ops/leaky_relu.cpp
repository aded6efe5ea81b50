// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

namespace morton {
namespace {

/// max(x, 0) + alpha * min(x, 0): one of the two is always 0, and a NaN stays a NaN.
Chain leaky_relu_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef zero = ScalarRef::constant(0.0);
  const ScalarRef alpha = ScalarRef::constant(node.real("alpha", 0.01));
  const ScalarRef above = chain.append(ScalarOp::max, {x, zero});
  const ScalarRef below = chain.append(ScalarOp::min, {x, zero});
  const ScalarRef leak = chain.append(ScalarOp::mul, {below, alpha});
  chain.append(ScalarOp::add, {above, leak});
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

}  // namespace morton
