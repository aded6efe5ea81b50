// SPDX-License-Identifier: Apache-2.0
#include <numbers>

#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// x / 2 * (1 + erf(x / sqrt(2))), or with approximate = tanh
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
Chain gelu_chain(const NodeView& node) {
  const std::string approximate = node.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    node.fail("approximate is '" + approximate + "', expected none or tanh");
  }
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  ScalarRef curve;
  if (approximate == "none") {
    constexpr double kInverse = std::numbers::sqrt2 / 2.0;
    const ScalarRef scaled = chain.append(ScalarOp::mul, {x, ScalarRef::constant(kInverse)});
    curve = chain.append(ScalarOp::erf, {scaled});
  } else {
    constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    const ScalarRef square = chain.append(ScalarOp::mul, {x, x});
    const ScalarRef cube = chain.append(ScalarOp::mul, {square, x});
    const ScalarRef bend = chain.append(ScalarOp::mul, {cube, ScalarRef::constant(0.044715)});
    const ScalarRef sum = chain.append(ScalarOp::add, {x, bend});
    const ScalarRef scaled = chain.append(ScalarOp::mul, {sum, ScalarRef::constant(kScale)});
    curve = chain.append(ScalarOp::tanh, {scaled});
  }
  const ScalarRef gate = chain.append(ScalarOp::add, {ScalarRef::constant(1.0), curve});
  const ScalarRef half = chain.append(ScalarOp::mul, {x, ScalarRef::constant(0.5)});
  chain.append(ScalarOp::mul, {half, gate});
  return chain;
}

}  // namespace

const Operator& operator_Gelu() {
  static const Operator kOperator{
      .name = "Gelu",
      .attributes = {"approximate"},
      .since_opset = 20,
      .chain = gelu_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
