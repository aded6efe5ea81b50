// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/requantisation.hpp"

namespace morton::ops {
namespace {

// Where its inputs have their scales.
constexpr std::array<std::size_t, 3> kScaleInputs{1, 4, 6};

/// Whether a scale has 16 bits. They are computed with in f32.
bool has_short_scales(const NodeView& node) {
  return std::ranges::any_of(kScaleInputs,
                             [&](std::size_t i) { return is_short_real(node.input(i).dtype); });
}

std::vector<TensorId> expand_q_linear_mat_mul(Expansion& to) {
  if (!has_short_scales(to.node())) return {};
  std::vector<TensorId> inputs;
  for (std::size_t i = 0; i < to.node().input_count(); ++i) inputs.push_back(to.input(i));
  for (const std::size_t i : kScaleInputs) inputs[i] = to.converted(inputs[i], DType::f32);
  return {to.add("QLinearMatMul", std::move(inputs))};
}

std::vector<TensorType> infer_q_linear_mat_mul(const NodeView& node) {
  if (has_short_scales(node)) return infer_composed(node);
  const Requantisation part = requantisation_of(node);
  return {{part.type, part.product.matrices.result}};
}

/// In f32, step for step what a device does: the result is exact.
ReferenceTensor exactly(const Requantisation& part, ReferenceTensor sums,
                        std::span<const ReferenceTensor> inputs) {
  const MatrixProduct& matrices = part.product.matrices;
  const ReferenceTensor multiplier = to_reference(*part.multiplier);
  const auto spread = [&](const ReferenceTensor& values, Shape shape) {
    const PerLine numbers{0, std::move(shape)};
    const ChainOperand operands[] = {{&values, side_shape(matrices, numbers), DType::f32}};
    return evaluate(Chain{}, operands, matrices.result).value;
  };
  const auto factors = spread(multiplier, part.multiplier->shape());
  const auto zeros = spread(inputs[part.zero_y.input], part.zero_y.shape);
  const double least = part.type == DType::i8 ? -128.0 : 0.0;
  for (std::size_t i = 0; i < sums.value.size(); ++i) {
    const float scaled = static_cast<float>(sums.value[i]) * static_cast<float>(factors[i]);
    const float moved = std::nearbyint(scaled) + static_cast<float>(zeros[i]);
    sums.value[i] = std::clamp(static_cast<double>(moved), least, least + 255.0);
  }
  return sums;
}

ReferenceTensor reference_q_linear_mat_mul(const NodeView& node,
                                           std::span<const ReferenceTensor> inputs) {
  if (has_short_scales(node)) return reference_composed(node, inputs).front();
  const Requantisation part = requantisation_of(node);
  ReferenceTensor sums = sums_of(part.product, inputs);
  if (part.multiplier) return exactly(part, std::move(sums), inputs);
  // A device computes the multiplier too.
  const MatrixProduct& matrices = part.product.matrices;
  std::vector<ChainOperand> operands{{&sums, matrices.result, DType::i32}};
  for (const PerLine* side : {&part.scale_a, &part.scale_b, &part.scale_y, &part.zero_y}) {
    operands.push_back({&inputs[side->input], side_shape(matrices, *side), DType::f32});
  }
  Chain chain;
  chain.input_count = static_cast<int>(operands.size());
  const ScalarRef multiplier =
      append_multiplier(chain, ScalarRef::input(1), ScalarRef::input(2), ScalarRef::input(3));
  append_requantisation(chain, ScalarRef::input(0), multiplier, ScalarRef::input(4), part.type);
  return evaluate(chain, operands, matrices.result);
}

BoundProblem lower_q_linear_mat_mul(const NodeView& node) {
  throw InternalError(node.where() + ": a pass must make a MatMulInteger of it");
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
      .expand = expand_q_linear_mat_mul,
      .types = {DType::u8, DType::i8, DType::f32, DType::f16, DType::bf16},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
