// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

namespace morton {
namespace {

/// log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)), whose exp cannot overflow.
Chain softplus_chain(const NodeView& /*node*/) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef above = chain.append(ScalarOp::max, {x, ScalarRef::constant(0.0)});
  const ScalarRef size = chain.append(ScalarOp::abs, {x});
  const ScalarRef negated = chain.append(ScalarOp::neg, {size});
  const ScalarRef power = chain.append(ScalarOp::exp, {negated});
  const ScalarRef rest = chain.append(ScalarOp::log1p, {power});
  chain.append(ScalarOp::add, {above, rest});
  return chain;
}

}  // namespace

const Operator& operator_Softplus() {
  static const Operator kOperator{
      .name = "Softplus",
      .since_opset = 1,
      .chain = softplus_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton
