// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// x / (1 + |x|).
Chain softsign_chain(const NodeView& /*node*/) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef size = chain.append(ScalarOp::abs, {x});
  const ScalarRef divisor = chain.append(ScalarOp::add, {ScalarRef::constant(1.0), size});
  chain.append(ScalarOp::div, {x, divisor});
  return chain;
}

}  // namespace

const Operator& operator_Softsign() {
  static const Operator kOperator{
      .name = "Softsign",
      .since_opset = 1,
      .chain = softsign_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
