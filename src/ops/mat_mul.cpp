// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "ops/operator.hpp"
#include "ops/summation.hpp"

namespace morton {
namespace {

/// A [..., K] times B [K, N]: all dimensions of A but the last are rows of one product.
struct Product {
  std::int64_t m = 1, n = 0, k = 0;
};

Product product_of(const NodeView& node) {
  const Shape a = node.input(0).shape;
  const Shape b = node.input(1).shape;
  const std::string got = "A is " + to_string(a) + ", B is " + to_string(b);
  if (a.empty() || b.empty()) node.fail(got + "; neither may be a scalar");
  if (a.size() < 2 || b.size() != 2) {
    node.unsupported(got + "; A of two dimensions or more and B of two are supported");
  }
  if (a.back() != b[0]) node.fail(got + ": the inner extents differ");
  Product product;
  for (std::size_t d = 0; d + 1 < a.size(); ++d) {
    product.m = checked_mul(product.m, a[d], "MatMul");
  }
  product.k = b[0];
  product.n = b[1];
  return product;
}

std::vector<TensorType> infer_mat_mul(const NodeView& node) {
  const Product product = product_of(node);
  TensorType result = node.input(0);
  result.shape.back() = product.n;
  return {result};
}

ReferenceTensor reference_mat_mul(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Product product = product_of(node);
  const ReferenceTensor& a = inputs[0];
  const ReferenceTensor& b = inputs[1];
  ReferenceTensor result;
  result.shape = a.shape;
  result.shape.back() = product.n;
  for (std::int64_t m = 0; m < product.m; ++m) {
    for (std::int64_t n = 0; n < product.n; ++n) {
      BoundedSum sum;
      for (std::int64_t k = 0; k < product.k; ++k) {
        const auto i = static_cast<std::size_t>(m * product.k + k);
        const auto j = static_cast<std::size_t>(k * product.n + n);
        sum.add_product({a.value[i], a.error[i]}, {b.value[j], b.error[j]});
      }
      result.value.push_back(sum.result().value);
      result.error.push_back(sum.result().error);
    }
  }
  return result;
}

/// Tensor dimensions 0 to rank - 2 joined as M (their extents M0, M1, ... where there are several),
/// and the last one, `inner`.
View rows_view(std::size_t rank, const std::string& inner) {
  Grouping grouping(2);
  std::vector<Expression> extents;
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    grouping[0].push_back(static_cast<int>(d));
    extents.push_back(Expression::variable(rank == 2 ? "M" : "M" + std::to_string(d)));
  }
  grouping[1].push_back(static_cast<int>(rank) - 1);
  extents.push_back(Expression::variable(inner));
  return View::grouped({"M", inner}, std::move(grouping), extents);
}

BoundProblem lower_mat_mul(const NodeView& node) {
  const Product product = product_of(node);
  const Shape a = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = "gemm";
  bound.problem.extents = {{"M", product.m}, {"N", product.n}, {"K", product.k}};
  for (std::size_t d = 0; a.size() > 2 && d + 1 < a.size(); ++d) {
    bound.problem.extents["M" + std::to_string(d)] = a[d];
  }
  bound.operands["lhs"] = {node.input_id(0), rows_view(a.size(), "K")};
  bound.operands["rhs"] = {node.input_id(1), View::identity({"K", "N"})};
  bound.operands["dst"] = {node.output_id(), rows_view(a.size(), "N")};
  return bound;
}

}  // namespace

const Operator& operator_MatMul() {
  static const Operator kOperator{
      .name = "MatMul",
      .least_inputs = 2,
      .most_inputs = 2,
      .since_opset = 1,
      .infer = infer_mat_mul,
      .reference = reference_mat_mul,
      .lower = lower_mat_mul,
  };
  return kOperator;
}

}  // namespace morton
