// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/integer_product.hpp"

namespace morton::ops {
namespace {

/// Inputs A, B, zero point of A, zero point of B.
IntegerProduct mat_mul_integer_of(const NodeView& node) {
  return integer_product(node, 0, 1, 2, 3);
}

std::vector<TensorType> infer_mat_mul_integer(const NodeView& node) {
  const IntegerProduct product = mat_mul_integer_of(node);
  return {{DType::i32, {product.m, product.n}}};
}

ReferenceTensor reference_mat_mul_integer(const NodeView& node,
                                          std::span<const ReferenceTensor> inputs) {
  return sums_of(mat_mul_integer_of(node), inputs[0], inputs[1]);
}

BoundProblem lower_mat_mul_integer(const NodeView& node) {
  return lower_integer_product(node, mat_mul_integer_of(node), 0, 1);
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
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
