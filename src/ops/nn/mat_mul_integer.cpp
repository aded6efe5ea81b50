// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/integer_product.hpp"

namespace morton::ops {
namespace {

/// Inputs A, B, zero points of A, zero points of B.
IntegerProduct mat_mul_integer_of(const NodeView& node) { return integer_product(node, {}); }

std::vector<TensorType> infer_mat_mul_integer(const NodeView& node) {
  return {{DType::i32, mat_mul_integer_of(node).matrices.result}};
}

ReferenceTensor reference_mat_mul_integer(const NodeView& node,
                                          std::span<const ReferenceTensor> inputs) {
  return sums_of(mat_mul_integer_of(node), inputs);
}

BoundProblem lower_mat_mul_integer(const NodeView& node) {
  return lower_integer_product(node, mat_mul_integer_of(node));
}

}  // namespace

const Operator& operator_MatMulInteger() {
  static const Operator kOperator{
      .name = "MatMulInteger",
      .inputs = {.least = 2, .most = 4},
      .since_opset = 10,
      .infer = infer_mat_mul_integer,
      .host = {.reference = reference_mat_mul_integer},
      .lower = lower_mat_mul_integer,
      .types = {DType::u8, DType::i8, DType::i32},
  };
  return kOperator;
}

}  // namespace morton::ops
