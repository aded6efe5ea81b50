// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// x * (x / 6 + 1/2, between 0 and 1).
Chain hard_swish_chain(const NodeView& /*node*/) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef scaled = chain.append(ScalarOp::mul, {x, ScalarRef::constant(1.0 / 6.0)});
  const ScalarRef line = chain.append(ScalarOp::add, {scaled, ScalarRef::constant(0.5)});
  const ScalarRef capped = chain.append(ScalarOp::min, {line, ScalarRef::constant(1.0)});
  const ScalarRef gate = chain.append(ScalarOp::max, {capped, ScalarRef::constant(0.0)});
  chain.append(ScalarOp::mul, {x, gate});
  return chain;
}

}  // namespace

const Operator& operator_HardSwish() {
  static const Operator kOperator{
      .name = "HardSwish",
      .since_opset = 14,
      .chain = hard_swish_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
