// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/core/gradient.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/matrix_product.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

MatrixProduct mat_mul_of(const NodeView& node) { return matrix_product(node, 1); }

std::vector<TensorType> infer_mat_mul(const NodeView& node) {
  return {{node.input(0).dtype, mat_mul_of(node).result}};
}

ReferenceTensor reference_mat_mul(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const MatrixProduct product = mat_mul_of(node);
  const ReferenceTensor& a = inputs[0];
  const ReferenceTensor& b = inputs[1];
  ReferenceTensor result;
  result.shape = product.result;
  for (const auto& [of_a, of_b] : matrices_of(product)) {
    for (std::int64_t m = 0; m < product.m; ++m) {
      for (std::int64_t n = 0; n < product.n; ++n) {
        BoundedSum sum;
        for (std::int64_t k = 0; k < product.k; ++k) {
          const auto i = static_cast<std::size_t>((of_a * product.m + m) * product.k + k);
          const auto j = static_cast<std::size_t>((of_b * product.k + k) * product.n + n);
          sum.add_product({a.value[i], a.error[i]}, {b.value[j], b.error[j]});
        }
        result.value.push_back(sum.result().value);
        result.error.push_back(sum.result().error);
      }
    }
  }
  return result;
}

BoundProblem lower_mat_mul(const NodeView& node) {
  BoundProblem bound = lower_matrix_product(node, 1, {families::gemm, families::batched_gemm});
  if (node.input(0).dtype == DType::f64) bound.problem.types["acc"] = DType::f64;
  return bound;
}

/// The last two dimensions change places.
TensorId transposed(Gradient& gradient, TensorId matrices) {
  const auto rank = static_cast<std::int64_t>(gradient.shape_of(matrices).size());
  std::vector<std::int64_t> order;
  for (std::int64_t d = 0; d + 2 < rank; ++d) order.push_back(d);
  order.push_back(rank - 1);
  order.push_back(rank - 2);
  return gradient.transposed(matrices, order);
}

/// dA = dY B^T, dB = A^T dY, for each product; what was broadcast is summed. Of one product of many
/// rows these are two products again.
void gradient_of_mat_mul(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const MatrixProduct product = mat_mul_of(node);
  const bool one = product.b.size() == 2;
  Shape rows = product.batch;
  if (!one) rows.push_back(product.m);
  const Shape output_gradient_shape = one ? Shape{product.m, product.n} : [&] {
    Shape shape = rows;
    shape.push_back(product.n);
    return shape;
  }();
  const TensorId output_gradient = gradient.reshaped(gradient.of_output(), output_gradient_shape);
  const Shape a_shape = one ? Shape{product.m, product.k} : product.a;
  const TensorId a = gradient.reshaped(node.input_id(0), a_shape);
  const TensorId b = gradient.reshaped(node.input_id(1), product.b);
  if (gradient.wants(0)) {
    const TensorId whole =
        one ? gradient.add("Gemm", {output_gradient, b}, {{"transB", std::int64_t{1}}})
            : gradient.add("MatMul", {output_gradient, transposed(gradient, b)});
    gradient.give(0, gradient.reshaped(gradient.summed_to(whole, a_shape), node.input(0).shape));
  }
  if (gradient.wants(1)) {
    const TensorId whole =
        one ? gradient.add("Gemm", {a, output_gradient}, {{"transA", std::int64_t{1}}})
            : gradient.add("MatMul", {transposed(gradient, a), output_gradient});
    gradient.give(1, gradient.reshaped(gradient.summed_to(whole, product.b), node.input(1).shape));
  }
}

}  // namespace

const Operator& operator_MatMul() {
  static const Operator kOperator{
      .name = "MatMul",
      .inputs = {.least = 2, .most = 2, .parameters = {0, 1}},
      .since_opset = 1,
      .infer = infer_mat_mul,
      .host = {.reference = reference_mat_mul},
      .lower = lower_mat_mul,
      .expand =
          [](Expansion& out) {
            if (!computes_with_nothing(out)) return std::vector<TensorId>{};
            const TensorId zero = out.scalar(out.node().input(0).dtype, 0.0);
            return std::vector<TensorId>{out.expanded(zero, mat_mul_of(out.node()).result)};
          },
      .types = {DType::f32, DType::f64},
      .gradient = gradient_of_mat_mul,
  };
  return kOperator;
}

}  // namespace morton::ops
