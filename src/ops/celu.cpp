// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).
Chain celu_chain(const NodeView& node) {
  const double alpha = node.real("alpha", 1.0);
  if (alpha == 0.0) node.fail("alpha is 0, and x / alpha has no value");
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef above = chain.append(ScalarOp::less, {ScalarRef::constant(0.0), x});
  const ScalarRef scaled = chain.append(ScalarOp::div, {x, ScalarRef::constant(alpha)});
  const ScalarRef curve = chain.append(ScalarOp::expm1, {scaled});
  const ScalarRef below = chain.append(ScalarOp::mul, {ScalarRef::constant(alpha), curve});
  chain.append(ScalarOp::select, {above, x, below});
  return chain;
}

}  // namespace

const Operator& operator_Celu() {
  static const Operator kOperator{
      .name = "Celu",
      .attributes = {"alpha"},
      .since_opset = 12,
      .chain = celu_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
