// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// alpha * x + beta, between 0 and 1.
Chain hard_sigmoid_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef alpha = ScalarRef::constant(node.real("alpha", 0.2));
  const ScalarRef beta = ScalarRef::constant(node.real("beta", 0.5));
  const ScalarRef scaled = chain.append(ScalarOp::mul, {ScalarRef::input(0), alpha});
  const ScalarRef line = chain.append(ScalarOp::add, {scaled, beta});
  const ScalarRef capped = chain.append(ScalarOp::min, {line, ScalarRef::constant(1.0)});
  chain.append(ScalarOp::max, {capped, ScalarRef::constant(0.0)});
  return chain;
}

}  // namespace

const Operator& operator_HardSigmoid() {
  static const Operator kOperator{
      .name = "HardSigmoid",
      .attributes = {"alpha", "beta"},
      .since_opset = 6,
      .chain = hard_sigmoid_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
