// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// x + bias below -lambd, x - bias above lambd, else 0.
Chain shrink_chain(const NodeView& node) {
  const double limit = node.real("lambd", 0.5);
  const ScalarRef bias = ScalarRef::constant(node.real("bias", 0.0));
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef is_below = chain.append(ScalarOp::less, {x, ScalarRef::constant(-limit)});
  const ScalarRef is_above = chain.append(ScalarOp::less, {ScalarRef::constant(limit), x});
  const ScalarRef below = chain.append(ScalarOp::add, {x, bias});
  const ScalarRef above = chain.append(ScalarOp::sub, {x, bias});
  const ScalarRef rest =
      chain.append(ScalarOp::select, {is_above, above, ScalarRef::constant(0.0)});
  chain.append(ScalarOp::select, {is_below, below, rest});
  return chain;
}

}  // namespace

const Operator& operator_Shrink() {
  static const Operator kOperator{
      .name = "Shrink",
      .attributes = {"lambd", "bias"},
      .since_opset = 9,
      .chain = shrink_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
