// SPDX-License-Identifier: Apache-2.0
#include "plan/tasks/narrow.hpp"

#include <algorithm>
#include <array>

namespace morton::plan {
namespace {

/// A family and the chain that its problems compute.
struct Pattern {
  Family family;
  std::string_view chain;
};

constexpr std::array<Pattern, 3> kPatterns{{
    {families::bias, "add(v, s1)"},
    {families::sigmoid, "div(1, add(1, exp(neg(v))))"},
    {families::relu, "max(v, 0)"},
}};

/// The tensor as a matrix whose first dimension is tensor dimension `row`.
View matrix_of(const Shape& shape, std::size_t row) {
  Grouping grouping{{static_cast<int>(row)}, {}};
  std::vector<Expression> extents;
  for (std::size_t t = 0; t < shape.size(); ++t) {
    if (t != row) grouping[1].push_back(static_cast<int>(t));
    extents.push_back(Expression::variable("T" + std::to_string(t)));
  }
  return View::grouped({"M", "N"}, std::move(grouping), extents);
}

/// The dimension along which a side operand varies, if it is one and is the whole of it.
int varying_dimension(const Shape& side, const Shape& shape) {
  int varying = -1;
  if (side.size() > shape.size()) return -1;
  for (std::size_t i = 0; i < side.size(); ++i) {
    const std::size_t t = shape.size() - side.size() + i;
    if (side[i] == 1) continue;
    if (varying >= 0 || side[i] != shape[t]) return -1;
    varying = static_cast<int>(t);
  }
  return varying;
}

Shape shape_of(const BoundProblem& bound) {
  Shape shape;
  for (const auto& dimension : bound.operands.at("dst").view.dimensions) {
    shape.push_back(bound.problem.extents.find(dimension)->second);
  }
  return shape;
}

BoundProblem as_matrix(const BoundProblem& elementwise, Family family, const Shape& shape,
                       std::size_t row) {
  BoundProblem bound;
  bound.problem.family = family;
  bound.problem.types = {{"src", elementwise.problem.types.at("src0")},
                         {"dst", elementwise.problem.types.at("dst")},
                         {"acc", DType::f32}};
  std::int64_t columns = 1;
  for (std::size_t t = 0; t < shape.size(); ++t) {
    bound.problem.extents["T" + std::to_string(t)] = shape[t];
    if (t != row) columns *= shape[t];
  }
  bound.problem.extents["M"] = shape[row];
  bound.problem.extents["N"] = columns;
  const View view = matrix_of(shape, row);
  bound.operands["src"] = {elementwise.operands.at("src0").tensor, view};
  bound.operands["dst"] = {elementwise.operands.at("dst").tensor, view};
  return bound;
}

/// The side operand as the vector that is added: its one long dimension, the others of extent 1.
View vector_of(const Shape& side) {
  Grouping grouping(1);
  std::vector<Expression> extents;
  for (std::size_t t = 0; t < side.size(); ++t) {
    grouping[0].push_back(static_cast<int>(t));
    extents.push_back(side[t] == 1 ? Expression(1) : Expression::variable("M"));
  }
  return View::grouped({"M"}, std::move(grouping), extents);
}

}  // namespace

bool is_narrow_family(const std::string& family) {
  return std::any_of(kPatterns.begin(), kPatterns.end(),
                     [&](const Pattern& pattern) { return pattern.family == family; });
}

std::vector<BoundProblem> narrowed(const BoundProblem& elementwise,
                                   const std::function<const TaskTensor&(TensorId)>& tensor_at) {
  if (elementwise.problem.family != families::elementwise) return {};
  const std::string chain = elementwise.problem.epilogue.print();
  const auto pattern = std::find_if(kPatterns.begin(), kPatterns.end(),
                                    [&](const Pattern& p) { return p.chain == chain; });
  const Shape shape = shape_of(elementwise);
  const auto identity = View::identity(elementwise.operands.at("dst").view.dimensions);
  const bool whole = elementwise.operands.at("src0").view.grouping == identity.grouping &&
                     elementwise.operands.at("dst").view.grouping == identity.grouping;
  if (pattern == kPatterns.end() || shape.empty() || !whole) return {};
  std::vector<BoundProblem> problems;
  if (pattern->family == families::bias) {
    const Shape& side = elementwise.sides[0].shape;
    const int row = varying_dimension(side, shape);
    if (row < 0 || tensor_at(elementwise.sides[0].tensor).shape != side) return {};
    BoundProblem bound =
        as_matrix(elementwise, families::bias, shape, static_cast<std::size_t>(row));
    bound.operands["bias"] = {elementwise.sides[0].tensor, vector_of(side)};
    bound.problem.types["bias"] = DType::f32;
    problems.push_back(std::move(bound));
    return problems;
  }
  problems.push_back(as_matrix(elementwise, pattern->family, shape, 0));
  if (shape.size() == 2) problems.push_back(as_matrix(elementwise, pattern->family, shape, 1));
  return problems;
}

}  // namespace morton::plan
