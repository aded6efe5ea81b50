// SPDX-License-Identifier: Apache-2.0
//
// Products of 8-bit matrices, as ONNX Runtime's quantiser writes them into files.
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"
#include "ops/math/requantisation.hpp"
#include "ops/quantised/codes.hpp"

namespace morton::ops {
namespace {

/// Columns of input `i`, a matrix or several.
std::int64_t columns_of_input(const NodeView& node, std::size_t i) {
  const Shape& shape = node.input(i).shape;
  if (shape.size() < 2) {
    node.fail("input " + std::to_string(i) + " is " + to_string(shape) + "; expected a matrix");
  }
  return shape.back();
}

/// The zero point of columns: one number, or one for each.
TensorId columns_zero(Expansion& to, std::size_t i) {
  const NodeView& node = to.node();
  if (!node.has_input(i)) return kNoTensor;
  return element_count(node.input(i).shape) == 1 ? single(to, i) : to.input(i);
}

TensorId columns_scale(Expansion& to, std::size_t i) {
  return element_count(to.node().input(i).shape) == 1 ? single(to, i) : to.input(i);
}

TensorId product_of(Expansion& to, TensorId a, TensorId b, TensorId zero_a, TensorId zero_b) {
  std::vector<TensorId> inputs{a, b, zero_a, zero_b};
  while (inputs.back() == kNoTensor) inputs.pop_back();
  return to.add("MatMulInteger", std::move(inputs));
}

/// sums * multiplier + bias, in f32. The bias is input `bias`, one number for each column.
TensorId real_product(Expansion& to, TensorId sums, TensorId multiplier, std::size_t bias,
                      std::int64_t columns) {
  const NodeView& node = to.node();
  require_shape(node, bias, {columns}, "the bias");
  ChainWriter chain(to);
  const ScalarRef sum = chain.convert(ScalarOp::cast, chain.tensor(sums), DType::f32);
  const ScalarRef scaled = chain.step(ScalarOp::mul, {sum, chain.operand(multiplier, DType::f32)});
  if (node.has_input(bias)) {
    if (node.input(bias).dtype != DType::f32) node.fail("the bias is not of f32");
    chain.step(ScalarOp::add, {scaled, chain.operand(to.input(bias), DType::f32)});
  }
  return chain.write();
}

/// A, B, scale and zero point of each, the bias.
std::vector<TensorId> expand_mat_mul_integer_to_float(Expansion& to) {
  const NodeView& node = to.node();
  require_codes(node, 0);
  require_codes(node, 1);
  const std::int64_t columns = columns_of_input(node, 1);
  require_scale(node, 2);
  require_scale(node, 3, columns);
  require_zero_point(node, 4, node.input(0).dtype);
  require_zero_point(node, 5, node.input(1).dtype, columns);
  const TensorId zero_a = node.has_input(4) ? single(to, 4) : kNoTensor;
  const TensorId sums = product_of(to, to.input(0), to.input(1), zero_a, columns_zero(to, 5));
  const TensorId multiplier = scales_over(to, single(to, 2), columns_scale(to, 3), kNoTensor);
  return {real_product(to, sums, multiplier, 6, columns)};
}

/// A (f32, which gets the codes of its range), B, its scale, its zero point, the bias.
std::vector<TensorId> expand_dynamic_quantize_mat_mul(Expansion& to) {
  const NodeView& node = to.node();
  require_codes(node, 1);
  const std::int64_t columns = columns_of_input(node, 1);
  require_scale(node, 2, columns);
  require_zero_point(node, 3, node.input(1).dtype, columns);
  const std::vector<TensorId> a = to.add_several("DynamicQuantizeLinear", {to.input(0)}, 3);
  const TensorId sums = product_of(to, a[0], to.input(1), a[2], columns_zero(to, 3));
  const TensorId multiplier = scales_over(to, a[1], columns_scale(to, 2), kNoTensor);
  return {real_product(to, sums, multiplier, 4, columns)};
}

// The order of the inputs of QGemm.
enum GemmInput : std::size_t {
  kGemmA,
  kGemmScaleA,
  kGemmZeroA,
  kGemmB,
  kGemmScaleB,
  kGemmZeroB,
  kGemmC,
  kGemmScaleY,
  kGemmZeroY
};

/// The matrix that input `i` is, transposed where the attribute says so.
TensorId gemm_matrix(Expansion& to, std::size_t i, const char* attribute) {
  const NodeView& node = to.node();
  require_codes(node, i);
  require_rank(node, i, 2, "the matrix");
  return node.flag(attribute, 0) ? to.transposed(to.input(i), {1, 0}) : to.input(i);
}

/// alpha * scale of a * scale of b, rounded in this order.
TensorId gemm_multiplier(Expansion& to) {
  const TensorId scale_a = single(to, kGemmScaleA);
  const TensorId alpha = to.scalar(DType::f32, static_cast<float>(to.node().real("alpha", 1.0)));
  const TensorId own = scales_over(to, alpha, scale_a, kNoTensor);
  const bool has_result = to.node().has_input(kGemmScaleY);
  return scales_over(to, own, columns_scale(to, kGemmScaleB),
                     has_result ? single(to, kGemmScaleY) : kNoTensor);
}

std::vector<TensorId> expand_qgemm(Expansion& to) {
  const NodeView& node = to.node();
  const TensorId a = gemm_matrix(to, kGemmA, "transA");
  const TensorId b = gemm_matrix(to, kGemmB, "transB");
  const std::int64_t columns = to.shape_of(b)[1];
  require_scale(node, kGemmScaleA);
  require_zero_point(node, kGemmZeroA, node.input(kGemmA).dtype);
  require_scale(node, kGemmScaleB, columns);
  require_zero_point(node, kGemmZeroB, node.input(kGemmB).dtype, columns);
  const TensorId zero_a = node.has_input(kGemmZeroA) ? single(to, kGemmZeroA) : kNoTensor;
  const TensorId sums = product_of(to, a, b, zero_a, columns_zero(to, kGemmZeroB));
  const Shape result = to.shape_of(sums);

  ChainWriter chain(to);
  ScalarRef sum = chain.tensor(sums);
  if (node.has_input(kGemmC)) {
    const TensorType c = node.input(kGemmC);
    if (c.dtype != DType::i32 || node.broadcast(c.shape, result) != result) {
      node.fail("C (input 6) is " + to_string(c.shape) + " of " + std::string(name_of(c.dtype)) +
                "; expected i32 that broadcasts to " + to_string(result));
    }
    sum = chain.step(ScalarOp::add, {sum, chain.operand(to.input(kGemmC), DType::i32)});
  }
  if (!node.has_input(kGemmScaleY)) {
    if (node.has_input(kGemmZeroY)) node.fail("the result has a zero point and no scale");
    const TensorId by = gemm_multiplier(to);
    const ScalarRef real = chain.convert(ScalarOp::cast, sum, DType::f32);
    chain.step(ScalarOp::mul, {real, chain.operand(by, DType::f32)});
    return {chain.write()};
  }
  require_scale(node, kGemmScaleY);
  const DType type = code_type(node, kGemmZeroY, node.input(kGemmA).dtype);
  if (node.has_input(kGemmZeroY)) require_codes(node, kGemmZeroY);
  require_zero_point(node, kGemmZeroY, type);
  const ScalarRef by = chain.operand(gemm_multiplier(to), DType::f32);
  const ScalarRef zero = chain.operand(zero_point(to, kGemmZeroY, type), DType::f32);
  append_requantisation(chain.chain(), sum, by, zero, type);
  return {chain.write()};
}

}  // namespace

const OperatorTable& microsoft_products_operators() {
  static const OperatorTable kTable{
      foreign_operator("com.microsoft.DynamicQuantizeMatMul", {.least = 3, .most = 5}, {},
                       expand_dynamic_quantize_mat_mul),
      foreign_operator("com.microsoft.MatMulIntegerToFloat", {.least = 4, .most = 7}, {},
                       expand_mat_mul_integer_to_float),
      foreign_operator("com.microsoft.QGemm", {.least = 1, .most = 9},
                       {"alpha", "transA", "transB"}, expand_qgemm),
  };
  return kTable;
}

}  // namespace morton::ops
