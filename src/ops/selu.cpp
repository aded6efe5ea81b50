// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

// ONNX's defaults, as f32 holds them.
constexpr double kAlpha = 1.67326319217681884765625;
constexpr double kGamma = 1.05070102214813232421875;

/// gamma * (x where it is above 0, else alpha * (exp(x) - 1)).
Chain selu_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef alpha = ScalarRef::constant(node.real("alpha", kAlpha));
  const ScalarRef gamma = ScalarRef::constant(node.real("gamma", kGamma));
  const ScalarRef above = chain.append(ScalarOp::less, {ScalarRef::constant(0.0), x});
  const ScalarRef curve = chain.append(ScalarOp::expm1, {x});
  const ScalarRef below = chain.append(ScalarOp::mul, {alpha, curve});
  const ScalarRef value = chain.append(ScalarOp::select, {above, x, below});
  chain.append(ScalarOp::mul, {gamma, value});
  return chain;
}

}  // namespace

const Operator& operator_Selu() {
  static const Operator kOperator{
      .name = "Selu",
      .attributes = {"alpha", "gamma"},
      .since_opset = 6,
      .chain = selu_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
