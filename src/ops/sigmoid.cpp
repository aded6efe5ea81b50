// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
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

/// dX = dY y (1 - y), y being the result. The chain's own derivative is infinity times 0 where exp
/// overflows.
void gradient_of_sigmoid(Gradient& gradient) {
  Chain chain;
  chain.input_count = 2;
  const ScalarRef y = ScalarRef::input(1);
  const ScalarRef rest = chain.append(ScalarOp::sub, {ScalarRef::constant(1.0), y});
  const ScalarRef slope = chain.append(ScalarOp::mul, {y, rest});
  chain.append(ScalarOp::mul, {ScalarRef::input(0), slope});
  gradient.give(0, gradient.chain(chain, {gradient.of_output(), gradient.node().output_id()}));
}

}  // namespace

const Operator& operator_Sigmoid() {
  static const Operator kOperator{
      .name = "Sigmoid",
      .since_opset = 6,
      .chain = sigmoid_chain,
      .types = real_types(),
      .gradient = gradient_of_sigmoid,
  };
  return kOperator;
}

}  // namespace morton::ops
