// SPDX-License-Identifier: Apache-2.0
#include "ops/math/requantisation.hpp"

#include <cmath>

#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

// ONNX's order of the inputs of QLinearMatMul.
enum Input : std::size_t { kA, kScaleA, kZeroA, kB, kScaleB, kZeroB, kScaleY, kZeroY };

PerLine scale(const NodeView& node, const MatrixProduct& product, std::size_t i, Lines lines) {
  if (node.input(i).dtype != DType::f32) {
    node.unsupported("scale (input " + std::to_string(i) + ") is " +
                     std::string(name_of(node.input(i).dtype)) + "; f32 is supported");
  }
  const Tensor* value = node.constant(i);
  for (std::int64_t e = 0; value != nullptr && e < value->size(); ++e) {
    const double one = value->at(e);
    if (one > 0.0 && std::isfinite(one)) continue;
    node.fail("scale " + std::to_string(one) + " (input " + std::to_string(i) +
              ") is not positive and finite");
  }
  return per_line(node, product, i, lines);
}

std::optional<Tensor> known_multiplier(const NodeView& node, const Requantisation& part) {
  const bool by_row = !part.scale_a.shape.empty() || !part.scale_y.shape.empty();
  if (by_row && !part.scale_b.shape.empty()) return std::nullopt;
  const Tensor* scales[] = {node.constant(kScaleA), node.constant(kScaleB), node.constant(kScaleY)};
  const PerLine* numbers[] = {&part.scale_a, &part.scale_b, &part.scale_y};
  Shape shape;
  for (std::size_t i = 0; i < 3; ++i) {
    if (scales[i] == nullptr) return std::nullopt;
    shape = node.broadcast(shape, numbers[i]->shape);
  }
  Tensor multiplier = Tensor::allocate(DType::f32, shape);
  std::vector<double> spread[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const ReferenceTensor values = to_reference(*scales[i]);
    const ChainOperand operands[] = {{&values, numbers[i]->shape, DType::f32}};
    spread[i] = evaluate(Chain{}, operands, shape).value;
  }
  const auto single = [&](std::size_t i, std::size_t e) {
    return static_cast<float>(spread[i][e]);
  };
  for (std::size_t e = 0; e < spread[0].size(); ++e) {
    multiplier.as_mutable<float>()[e] = single(0, e) * single(1, e) / single(2, e);
  }
  return multiplier;
}

}  // namespace

Requantisation requantisation_of(const NodeView& node) {
  Requantisation part;
  part.product = integer_product(node, {.b = kB, .zero_a = kZeroA, .zero_b = kZeroB});
  const MatrixProduct& matrices = part.product.matrices;
  part.scale_a = scale(node, matrices, kScaleA, Lines::rows_of_a);
  part.scale_b = scale(node, matrices, kScaleB, Lines::columns_of_b);
  part.scale_y = scale(node, matrices, kScaleY, Lines::rows_of_result);
  part.zero_y = per_line(node, matrices, kZeroY, Lines::rows_of_result);
  part.type = node.input(kZeroY).dtype;
  if (part.type != DType::u8 && part.type != DType::i8) {
    node.fail("the zero point of the result is " + std::string(name_of(part.type)) +
              "; expected u8 or i8");
  }
  part.multiplier = known_multiplier(node, part);
  return part;
}

ScalarRef append_multiplier(Chain& chain, ScalarRef scale_a, ScalarRef scale_b, ScalarRef scale_y) {
  const ScalarRef product = chain.append(ScalarOp::mul, {scale_a, scale_b});
  return chain.append(ScalarOp::div, {product, scale_y});
}

ScalarRef append_requantisation(Chain& chain, ScalarRef sum, ScalarRef multiplier, ScalarRef zero,
                                DType type) {
  // Rounding stands between the product and the sum, so that no device contracts them into one
  // operation.
  const ScalarRef real = chain.append_conversion(ScalarOp::cast, sum, DType::f32);
  const ScalarRef scaled = chain.append(ScalarOp::mul, {real, multiplier});
  const ScalarRef rounded = chain.append(ScalarOp::round, {scaled});
  const ScalarRef moved = chain.append(ScalarOp::add, {rounded, zero});
  return chain.append_conversion(ScalarOp::saturate, moved, type);
}

}  // namespace morton::ops
