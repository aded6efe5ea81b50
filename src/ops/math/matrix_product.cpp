// SPDX-License-Identifier: Apache-2.0
#include "ops/math/matrix_product.hpp"

#include "base/numbers/checked.hpp"

namespace morton::ops {
namespace {

Shape leading(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

/// For each product, the number of its matrix among those of a tensor with these leading
/// dimensions.
std::vector<std::int64_t> own_matrices(const Shape& own, const Shape& batch) {
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
void drop_vectors(const MatrixProduct& product, BoundProblem& bound) {
  View& dst = bound.operands.at("dst").view;
  if (product.column_is_missing) {
    View& rhs = bound.operands.at("rhs").view;
    rhs = without(rhs, 1);
    dst = without(dst, 1);
  }
  if (product.row_is_missing) {
    View& lhs = bound.operands.at("lhs").view;
    lhs = without(lhs, 2);
    dst = without(dst, product.column_is_missing ? 1 : 2);
  }
}

/// The matrices of a batch: the leading extents as B0, B1, ..., and their number.
void bind_batch(const NodeView& node, std::size_t second, const MatrixProduct& product,
                BoundProblem& bound) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < product.batch.size(); ++d) {
    bound.problem.extents["B" + std::to_string(d)] = product.batch[d];
    count = checked_mul(count, product.batch[d], "product");
  }
  bound.problem.extents["B"] = count;
  const Shape& batch = product.batch;
  bound.operands["lhs"] = {node.input_id(0), batch_view(leading(product.a), batch, "M", "K")};
  bound.operands["rhs"] = {node.input_id(second), batch_view(leading(product.b), batch, "K", "N")};
  bound.operands["dst"] = {node.output_id(), batch_view(batch, batch, "M", "N")};
}

/// One product: the leading extents of A are rows, M0, M1, ... where there are several.
void bind_rows(const NodeView& node, std::size_t second, const MatrixProduct& product,
               BoundProblem& bound) {
  const Shape& a = product.a;
  add_leading_rows(a, bound.problem);
  bound.operands["lhs"] = {node.input_id(0), rows_of(a.size(), "K")};
  bound.operands["rhs"] = {node.input_id(second), View::identity({"K", "N"})};
  bound.operands["dst"] = {node.output_id(), rows_of(a.size(), "N")};
}

/// A vector A or B has no dimension in the result.
Shape result_of(const MatrixProduct& product) {
  Shape result = product.batch;
  if (product.b.size() == 2) {
    result = product.a;
    result.pop_back();
  } else {
    result.push_back(product.m);
  }
  if (product.row_is_missing) result.pop_back();
  if (!product.column_is_missing) result.push_back(product.n);
  return result;
}

}  // namespace

View rows_of(std::size_t rank, const std::string& inner) {
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

void add_leading_rows(const Shape& matrices, Problem& problem) {
  for (std::size_t d = 0; matrices.size() > 2 && d + 1 < matrices.size(); ++d) {
    problem.extents["M" + std::to_string(d)] = matrices[d];
  }
}

MatrixProduct matrix_product(const NodeView& node, std::size_t second) {
  MatrixProduct product;
  Shape& a = product.a;
  Shape& b = product.b;
  a = node.input(0).shape;
  b = node.input(second).shape;
  const std::string got = "A is " + to_string(a) + ", B is " + to_string(b);
  if (a.empty() || b.empty()) node.fail(got + "; neither may be a scalar");
  product.row_is_missing = a.size() == 1;
  product.column_is_missing = b.size() == 1;
  if (product.row_is_missing) a.insert(a.begin(), 1);
  if (product.column_is_missing) b.push_back(1);
  if (a.back() != b[b.size() - 2]) node.fail(got + ": the inner extents differ");
  product.k = a.back();
  product.n = b.back();
  if (b.size() > 2) {
    product.batch = node.broadcast(leading(a), leading(b), got);
    product.m = a[a.size() - 2];
  } else {
    for (std::size_t d = 0; d + 1 < a.size(); ++d) {
      product.m = checked_mul(product.m, a[d], "product");
    }
  }
  product.result = result_of(product);
  return product;
}

std::vector<std::array<std::int64_t, 2>> matrices_of(const MatrixProduct& product) {
  if (product.b.size() == 2) return {{0, 0}};
  const auto of_a = own_matrices(leading(product.a), product.batch);
  const auto of_b = own_matrices(leading(product.b), product.batch);
  std::vector<std::array<std::int64_t, 2>> matrices;
  for (std::size_t p = 0; p < of_a.size(); ++p) matrices.push_back({of_a[p], of_b[p]});
  return matrices;
}

BoundProblem lower_matrix_product(const NodeView& node, std::size_t second,
                                  const ProductFamilies& families) {
  const MatrixProduct product = matrix_product(node, second);
  const bool one = product.b.size() == 2;
  BoundProblem bound;
  bound.problem.family = one ? families.single : families.batched;
  bound.problem.extents = {{"M", product.m}, {"N", product.n}, {"K", product.k}};
  if (one) {
    bind_rows(node, second, product, bound);
  } else {
    bind_batch(node, second, product, bound);
  }
  drop_vectors(product, bound);
  return bound;
}

}  // namespace morton::ops
