// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// x where it is above 0, else alpha * (exp(x) - 1).
Chain elu_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef alpha = ScalarRef::constant(node.real("alpha", 1.0));
  const ScalarRef above = chain.append(ScalarOp::less, {ScalarRef::constant(0.0), x});
  const ScalarRef curve = chain.append(ScalarOp::expm1, {x});
  const ScalarRef below = chain.append(ScalarOp::mul, {alpha, curve});
  chain.append(ScalarOp::select, {above, x, below});
  return chain;
}

}  // namespace

const Operator& operator_Elu() {
  static const Operator kOperator{
      .name = "Elu",
      .attributes = {"alpha"},
      .since_opset = 6,
      .chain = elu_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
