// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

namespace morton {
namespace {

/// 1 / (1 + exp(-x)). For a large -x exp overflows to infinity and the quotient is 0, as it should
/// be.
Chain sigmoid_chain(const NodeView& /*node*/) {
  Chain chain;
  const ScalarRef negated = chain.append(ScalarOp::neg, {ScalarRef::input(0)});
  const ScalarRef power = chain.append(ScalarOp::exp, {negated});
  const ScalarRef denominator = chain.append(ScalarOp::add, {ScalarRef::constant(1.0), power});
  chain.append(ScalarOp::div, {ScalarRef::constant(1.0), denominator});
  return chain;
}

}  // namespace

const Operator& operator_Sigmoid() {
  static const Operator kOperator{
      .name = "Sigmoid", .since_opset = 6, .chain = sigmoid_chain, .types = real_types()};
  return kOperator;
}

}  // namespace morton
