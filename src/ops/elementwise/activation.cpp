// SPDX-License-Identifier: Apache-2.0
//
// Activations: the functions of one input that stand behind layers (Tanh is in unary.cpp, PRelu,
// whose slope is an input, in binary.cpp).
#include <numbers>

#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/elementwise/table.hpp"

namespace morton::ops {
namespace {

/// max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).
Chain celu_chain(const NodeView& node) {
  const double alpha = node.real("alpha", 1.0);
  if (alpha == 0.0) node.fail("alpha is 0, and x / alpha has no value");
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef above = chain.append(ScalarOp::less, {ScalarRef::constant(0.0), x});
  const ScalarRef scaled = chain.append(ScalarOp::div, {x, ScalarRef::constant(alpha)});
  const ScalarRef curve = chain.append(ScalarOp::expm1, {scaled});
  const ScalarRef below = chain.append(ScalarOp::mul, {ScalarRef::constant(alpha), curve});
  chain.append(ScalarOp::select, {above, x, below});
  return chain;
}

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

/// x above 0, else alpha * x; a NaN stays a NaN. Where it is trained, the slope at 0 is alpha.
Chain leaky_relu_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef alpha = ScalarRef::constant(node.real("alpha", 0.01));
  const ScalarRef above = chain.append(ScalarOp::less, {ScalarRef::constant(0.0), x});
  const ScalarRef leak = chain.append(ScalarOp::mul, {x, alpha});
  chain.append(ScalarOp::select, {above, x, leak});
  return chain;
}

/// max(x, 0); a NaN stays a NaN.
Chain relu_chain(const NodeView& /*node*/) {
  Chain chain;
  chain.append(ScalarOp::max, {ScalarRef::input(0), ScalarRef::constant(0.0)});
  return chain;
}

/// gamma * (x where it is above 0, else alpha * (exp(x) - 1)).
Chain selu_chain(const NodeView& node) {
  // ONNX's defaults, as f32 holds them.
  constexpr double kAlpha = 1.67326319217681884765625;
  constexpr double kGamma = 1.05070102214813232421875;
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

/// x + bias below -lambd, x - bias above lambd, else 0; of integers computed as reals.
Chain shrink_chain(const NodeView& node) {
  const double limit = node.real("lambd", 0.5);
  const ScalarRef bias = ScalarRef::constant(node.real("bias", 0.0));
  const DType type = node.input(0).dtype;
  Chain chain;
  ScalarRef x = ScalarRef::input(0);
  if (!is_real(type)) x = chain.append_conversion(ScalarOp::cast, x, DType::f32);
  const ScalarRef is_below = chain.append(ScalarOp::less, {x, ScalarRef::constant(-limit)});
  const ScalarRef is_above = chain.append(ScalarOp::less, {ScalarRef::constant(limit), x});
  const ScalarRef below = chain.append(ScalarOp::add, {x, bias});
  const ScalarRef above = chain.append(ScalarOp::sub, {x, bias});
  const ScalarRef rest =
      chain.append(ScalarOp::select, {is_above, above, ScalarRef::constant(0.0)});
  const ScalarRef value = chain.append(ScalarOp::select, {is_below, below, rest});
  if (!is_real(type)) chain.append_conversion(ScalarOp::cast, value, type);
  return chain;
}

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

/// log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)), whose exp cannot overflow.
Chain softplus_chain(const NodeView& /*node*/) {
  Chain chain;
  const SoftplusTerms terms = append_softplus(chain, ScalarRef::input(0));
  chain.append(ScalarOp::add, {terms.positive, terms.rest});
  return chain;
}

/// x / (1 + |x|).
Chain softsign_chain(const NodeView& /*node*/) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef size = chain.append(ScalarOp::abs, {x});
  const ScalarRef divisor = chain.append(ScalarOp::add, {ScalarRef::constant(1.0), size});
  chain.append(ScalarOp::div, {x, divisor});
  return chain;
}

/// x where it is above alpha, else 0.
Chain thresholded_relu_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef alpha = ScalarRef::constant(node.real("alpha", 1.0));
  const ScalarRef above = chain.append(ScalarOp::less, {alpha, x});
  chain.append(ScalarOp::select, {above, x, ScalarRef::constant(0.0)});
  return chain;
}

std::vector<ElementwiseRow> activation_rows() {
  return {
      {"Celu", 12, real_types, celu_chain, {.attributes = {"alpha"}}},
      {"Elu", 6, real_types, elu_chain, {.attributes = {"alpha"}}},
      {"Gelu", 20, real_types, gelu_chain, {.attributes = {"approximate"}}},
      {"HardSigmoid", 6, real_types, hard_sigmoid_chain, {.attributes = {"alpha", "beta"}}},
      {"HardSwish", 14, real_types, hard_swish_chain},
      {"LeakyRelu", 6, real_types, leaky_relu_chain, {.attributes = {"alpha"}}},
      {"Relu", 6, number_types, relu_chain},
      {"Selu", 6, real_types, selu_chain, {.attributes = {"alpha", "gamma"}}},
      {"Shrink", 9, number_types, shrink_chain, {.attributes = {"lambd", "bias"}}},
      {"Sigmoid", 6, real_types, sigmoid_chain, {.gradient = gradient_of_sigmoid}},
      {"Softplus", 1, real_types, softplus_chain},
      {"Softsign", 1, real_types, softsign_chain},
      {"ThresholdedRelu", 10, real_types, thresholded_relu_chain, {.attributes = {"alpha"}}},
  };
}

}  // namespace

const OperatorTable& activation_operators() {
  static const OperatorTable kTable = elementwise_table(kOneInput, activation_rows());
  return kTable;
}

}  // namespace morton::ops
