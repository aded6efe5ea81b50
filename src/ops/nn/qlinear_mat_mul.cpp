// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rooms.hpp"
#include "ops/math/integer_product.hpp"

namespace morton::ops {
namespace {

// ONNX's order of the inputs.
enum Input : std::size_t { kA, kScaleA, kZeroA, kB, kScaleB, kZeroB, kScaleY, kZeroY };

IntegerProduct qlinear_mat_mul_of(const NodeView& node) {
  return integer_product(node, kA, kB, kZeroA, kZeroB);
}

/// What takes a sum to the result: y = saturate(round(sum * multiplier) + zero).
struct Requantisation {
  float multiplier = 1.0F;
  std::int64_t zero = 0;
};

Requantisation requantisation_of(const NodeView& node) {
  const auto scale = [&](std::size_t i) {
    const auto value = static_cast<float>(constant_scalar(node, i));
    if (!(value > 0.0F) || !std::isfinite(value)) {
      node.fail("scale " + std::to_string(value) + " (input " + std::to_string(i) +
                ") is not positive and finite");
    }
    return value;
  };
  return {scale(kScaleA) * scale(kScaleB) / scale(kScaleY),
          static_cast<std::int64_t>(constant_scalar(node, kZeroY))};
}

std::vector<TensorType> infer_q_linear_mat_mul(const NodeView& node) {
  const IntegerProduct product = qlinear_mat_mul_of(node);
  static_cast<void>(requantisation_of(node));
  const DType type = node.input(kZeroY).dtype;
  if (type != DType::u8 && type != DType::i8) {
    node.fail("the zero point of the result is " + std::string(name_of(type)) +
              "; expected u8 or i8");
  }
  return {{type, {product.m, product.n}}};
}

/// In f32, step for step what a device does: the result is exact.
ReferenceTensor reference_q_linear_mat_mul(const NodeView& node,
                                           std::span<const ReferenceTensor> inputs) {
  const Requantisation requantisation = requantisation_of(node);
  const bool is_signed = node.input(kZeroY).dtype == DType::i8;
  const double least = is_signed ? -128.0 : 0.0;
  const double most = is_signed ? 127.0 : 255.0;
  ReferenceTensor result = sums_of(qlinear_mat_mul_of(node), inputs[kA], inputs[kB]);
  for (double& value : result.value) {
    const float scaled = static_cast<float>(value) * requantisation.multiplier;
    const float moved = std::nearbyint(scaled) + static_cast<float>(requantisation.zero);
    value = std::clamp(static_cast<double>(moved), least, most);
  }
  return result;
}

BoundProblem lower_q_linear_mat_mul(const NodeView& node) {
  BoundProblem bound = lower_integer_product(node, qlinear_mat_mul_of(node), kA, kB);
  const Requantisation requantisation = requantisation_of(node);
  // Rounding stands between the product and the sum, so that no device contracts them into one
  // operation.
  Chain& chain = bound.problem.epilogue;
  const auto multiplier = static_cast<double>(requantisation.multiplier);
  const ScalarRef sum = chain.append_conversion(ScalarOp::cast, ScalarRef::input(0), DType::f32);
  const ScalarRef scaled = chain.append(ScalarOp::mul, {sum, ScalarRef::constant(multiplier)});
  const ScalarRef rounded = chain.append(ScalarOp::round, {scaled});
  const auto zero = static_cast<double>(requantisation.zero);
  const ScalarRef moved = chain.append(ScalarOp::add, {rounded, ScalarRef::constant(zero)});
  chain.append_conversion(ScalarOp::saturate, moved, node.input(kZeroY).dtype);
  return bound;
}

}  // namespace

const Operator& operator_QLinearMatMul() {
  static const Operator kOperator{
      .name = "QLinearMatMul",
      .inputs = {.least = 8, .most = 8},
      .since_opset = 10,
      .infer = infer_q_linear_mat_mul,
      .host = {.reference = reference_q_linear_mat_mul},
      .lower = lower_q_linear_mat_mul,
      .types = {DType::u8, DType::i8, DType::f32},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
