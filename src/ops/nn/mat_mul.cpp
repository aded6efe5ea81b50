// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

/// A [..., M, K] times B [..., K, N], the dimensions before broadcast by NumPy's rule. Where B is a
/// matrix they are rows of one product; otherwise there is a product for each of them. A vector A
/// is a matrix of one row, a vector B one of one column, and the result lacks that dimension.
struct MatMulProduct {
  Shape a, b;   ///< as matrices
  Shape batch;  ///< empty for one product
  std::int64_t m = 1, n = 0, k = 0;
};

Shape leading(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

MatMulProduct mat_mul_of(const NodeView& node) {
  MatMulProduct product;
  Shape& a = product.a;
  Shape& b = product.b;
  a = node.input(0).shape;
  b = node.input(1).shape;
  const std::string got = "A is " + to_string(a) + ", B is " + to_string(b);
  if (a.empty() || b.empty()) node.fail(got + "; neither may be a scalar");
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  if (a.back() != b[b.size() - 2]) node.fail(got + ": the inner extents differ");
  product.k = a.back();
  product.n = b.back();
  if (b.size() > 2) {
    product.batch = node.broadcast(leading(a), leading(b), got);
    product.m = a[a.size() - 2];
    return product;
  }
  for (std::size_t d = 0; d + 1 < a.size(); ++d) {
    product.m = checked_mul(product.m, a[d], "MatMul");
  }
  return product;
}

std::vector<TensorType> infer_mat_mul(const NodeView& node) {
  const MatMulProduct product = mat_mul_of(node);
  TensorType result = node.input(0);
  if (product.b.size() > 2) {
    result.shape = product.batch;
    result.shape.push_back(product.m);
    result.shape.push_back(product.n);
  } else {
    result.shape = product.a;
    result.shape.back() = product.n;
  }
  if (node.input(0).shape.size() == 1) result.shape.erase(result.shape.end() - 2);
  if (node.input(1).shape.size() == 1) result.shape.pop_back();
  return {result};
}

/// For each product, the index of its matrix among those of a tensor with these leading dimensions.
std::vector<std::int64_t> matrices_of(const Shape& own, const Shape& batch) {
  std::vector<std::int64_t> matrices{0};
  for (std::size_t d = 0; d < batch.size(); ++d) {
    const std::size_t missing = batch.size() - own.size();
    const std::int64_t extent = d < missing ? 1 : own[d - missing];
    std::vector<std::int64_t> longer;
    for (const std::int64_t matrix : matrices) {
      for (std::int64_t i = 0; i < batch[d]; ++i) {
        longer.push_back(matrix * extent + (extent == 1 ? 0 : i));
      }
    }
    matrices = std::move(longer);
  }
  return matrices;
}

ReferenceTensor reference_mat_mul(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const MatMulProduct product = mat_mul_of(node);
  const ReferenceTensor& a = inputs[0];
  const ReferenceTensor& b = inputs[1];
  ReferenceTensor result;
  result.shape = infer_mat_mul(node)[0].shape;
  const bool one = product.b.size() == 2;
  const auto of_a =
      one ? std::vector<std::int64_t>{0} : matrices_of(leading(product.a), product.batch);
  const auto of_b =
      one ? std::vector<std::int64_t>{0} : matrices_of(leading(product.b), product.batch);
  for (std::size_t p = 0; p < of_a.size(); ++p) {
    for (std::int64_t m = 0; m < product.m; ++m) {
      for (std::int64_t n = 0; n < product.n; ++n) {
        BoundedSum sum;
        for (std::int64_t k = 0; k < product.k; ++k) {
          const auto i = static_cast<std::size_t>((of_a[p] * product.m + m) * product.k + k);
          const auto j = static_cast<std::size_t>((of_b[p] * product.k + k) * product.n + n);
          sum.add_product({a.value[i], a.error[i]}, {b.value[j], b.error[j]});
        }
        result.value.push_back(sum.result().value);
        result.error.push_back(sum.result().error);
      }
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

/// The matrices of `own` leading dimensions, one for each b of `batch` (extents B0, B1, ...).
View batch_view(const Shape& own, const Shape& batch, const std::string& row,
                const std::string& column) {
  std::vector<Expression> coordinates;
  std::vector<Expression> extents;
  Expression below(1);
  for (std::size_t d = batch.size(); d-- > batch.size() - own.size();) {
    const Expression extent = Expression::variable("B" + std::to_string(d));
    const std::int64_t mine = own[d + own.size() - batch.size()];
    Expression coordinate = Expression::variable("b") / below;
    if (d > 0) coordinate = coordinate % extent;
    const bool repeats = mine == 1 && batch[d] != 1;
    coordinates.insert(coordinates.begin(), repeats ? Expression(0) : coordinate);
    extents.insert(extents.begin(), repeats ? Expression(1) : extent);
    below = extent * below;
  }
  for (const auto& name : {row, column}) {
    coordinates.push_back(Expression::variable(coordinate_name(name)));
    extents.push_back(Expression::variable(name));
  }
  return View::mapped({"B", row, column}, std::move(coordinates), extents);
}

/// The view on a tensor that lacks dimension `t`, whose extent is 1, counted from its end.
View without(const View& view, std::size_t t) {
  std::vector<Expression> coordinates = view.coordinates;
  std::vector<Expression> extents = view.extents;
  coordinates.erase(coordinates.end() - static_cast<std::ptrdiff_t>(t));
  extents.erase(extents.end() - static_cast<std::ptrdiff_t>(t));
  return View::mapped(view.dimensions, std::move(coordinates), extents);
}

/// Takes the row of a vector A and the column of a vector B out of what they are bound to.
void drop_vectors(const NodeView& node, BoundProblem& bound) {
  View& dst = bound.operands.at("dst").view;
  if (node.input(1).shape.size() == 1) {
    View& rhs = bound.operands.at("rhs").view;
    rhs = without(rhs, 1);
    dst = without(dst, 1);
  }
  if (node.input(0).shape.size() == 1) {
    View& lhs = bound.operands.at("lhs").view;
    lhs = without(lhs, 2);
    dst = without(dst, node.input(1).shape.size() == 1 ? 1 : 2);
  }
}

BoundProblem lower_batch(const NodeView& node, const MatMulProduct& product) {
  BoundProblem bound;
  bound.problem.family = families::batched_gemm;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < product.batch.size(); ++d) {
    bound.problem.extents["B" + std::to_string(d)] = product.batch[d];
    count = checked_mul(count, product.batch[d], "MatMul");
  }
  bound.problem.extents.insert(
      {{"B", count}, {"M", product.m}, {"N", product.n}, {"K", product.k}});
  const Shape a = leading(product.a);
  const Shape b = leading(product.b);
  bound.operands["lhs"] = {node.input_id(0), batch_view(a, product.batch, "M", "K")};
  bound.operands["rhs"] = {node.input_id(1), batch_view(b, product.batch, "K", "N")};
  bound.operands["dst"] = {node.output_id(), batch_view(product.batch, product.batch, "M", "N")};
  drop_vectors(node, bound);
  return bound;
}

BoundProblem lower_mat_mul(const NodeView& node) {
  const MatMulProduct product = mat_mul_of(node);
  const Shape& a = product.a;
  if (product.b.size() > 2) return lower_batch(node, product);
  BoundProblem bound;
  bound.problem.family = families::gemm;
  bound.problem.extents = {{"M", product.m}, {"N", product.n}, {"K", product.k}};
  for (std::size_t d = 0; a.size() > 2 && d + 1 < a.size(); ++d) {
    bound.problem.extents["M" + std::to_string(d)] = a[d];
  }
  bound.operands["lhs"] = {node.input_id(0), rows_view(a.size(), "K")};
  bound.operands["rhs"] = {node.input_id(1), View::identity({"K", "N"})};
  bound.operands["dst"] = {node.output_id(), rows_view(a.size(), "N")};
  drop_vectors(node, bound);
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
  const MatMulProduct product = mat_mul_of(node);
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
      .gradient = gradient_of_mat_mul,
  };
  return kOperator;
}

}  // namespace morton::ops
