// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "ops/operator.hpp"
#include "ops/summation.hpp"

namespace morton {
namespace {

/// exp(x - max) / sum of the same, over the dimensions `summed`; `kept` are the others. From opset
/// 13 on `summed` is the one dimension `axis`; before, the input is a matrix whose columns are all
/// dimensions from `axis` on.
struct Axes {
  std::vector<int> kept, summed;
};

Axes axes_of(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  const bool matrix = node.opset() < 13;
  const auto last = static_cast<std::int64_t>(rank) - (matrix ? 0 : 1);
  const std::size_t axis = node.axis(node.integer("axis", matrix ? 1 : -1), rank, last);
  Axes axes;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool summed = matrix ? d >= axis : d == axis;
    (summed ? axes.summed : axes.kept).push_back(static_cast<int>(d));
  }
  return axes;
}

/// Offsets of all elements that the given dimensions span, the last dimension fastest.
std::vector<std::size_t> offsets_of(const Shape& shape, const std::vector<int>& dimensions) {
  const Shape strides = row_major_strides(shape);
  std::vector<std::size_t> offsets{0};
  for (const int d : dimensions) {
    const auto extent = static_cast<std::size_t>(shape[static_cast<std::size_t>(d)]);
    const auto stride = static_cast<std::size_t>(strides[static_cast<std::size_t>(d)]);
    std::vector<std::size_t> grown;
    for (const std::size_t offset : offsets) {
      for (std::size_t i = 0; i < extent; ++i) grown.push_back(offset + i * stride);
    }
    offsets = std::move(grown);
  }
  return offsets;
}

/// One row. With d = x - max: exp(d) is off by a factor of e(d) = (error of d) + 3 ulp; the maximum
/// cancels in the quotient whatever its error. The sum adds terms of one sign. Division is 2.5 ulp,
/// and one more stands for a reciprocal and a product in its place.
void softmax_row(const ReferenceTensor& source, std::span<const std::size_t> row,
                 ReferenceTensor& result) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const std::size_t at : row) largest = std::max(largest, source.value[at]);
  double sum = 0.0;
  double sum_error = 0.0;
  std::vector<double> relative;
  for (const std::size_t at : row) {
    const double distance = source.value[at] - largest;
    const double moved = source.error[at] + kUnitRoundoff * std::fabs(distance);
    relative.push_back(std::expm1(moved) + 3.0 * 2.0 * kUnitRoundoff);
    result.value[at] = std::exp(distance);
    sum += result.value[at];
    sum_error += result.value[at] * relative.back();
  }
  const double factor = same_sign_factor(static_cast<std::int64_t>(row.size()));
  const double shared = sum_error / sum + factor * kUnitRoundoff + 3.5 * 2.0 * kUnitRoundoff;
  const double smallest = static_cast<double>(std::numeric_limits<float>::min());
  for (std::size_t i = 0; i < row.size(); ++i) {
    result.value[row[i]] /= sum;
    result.error[row[i]] = result.value[row[i]] * (relative[i] + shared) + smallest;
  }
}

ReferenceTensor reference_softmax(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Axes axes = axes_of(node);
  ReferenceTensor result = inputs[0];
  const auto columns = offsets_of(result.shape, axes.summed);
  std::vector<std::size_t> row(columns.size());
  for (const std::size_t start : offsets_of(result.shape, axes.kept)) {
    std::transform(columns.begin(), columns.end(), row.begin(),
                   [&](std::size_t offset) { return start + offset; });
    softmax_row(inputs[0], row, result);
  }
  return result;
}

/// Adds operand dimension `name` with its extent to the problem; a group of several tensor
/// dimensions names their extents D0, D1, ... after their place in the tensor.
void add_group(Problem& problem, const std::string& name, const std::vector<int>& group,
               const Shape& shape, std::vector<Expression>& extents) {
  std::int64_t joined = 1;
  for (const int d : group) {
    const auto place = static_cast<std::size_t>(d);
    const std::string own = group.size() == 1 ? name : "D" + std::to_string(d);
    problem.extents[own] = shape[place];
    extents[place] = Expression::variable(own);
    joined = checked_mul(joined, shape[place], "Softmax");
  }
  problem.extents[name] = joined;
}

BoundProblem lower_softmax(const NodeView& node) {
  const Axes axes = axes_of(node);
  const Shape shape = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = "softmax";
  std::vector<Expression> extents(shape.size());
  add_group(bound.problem, "R", axes.kept, shape, extents);
  add_group(bound.problem, "L", axes.summed, shape, extents);
  const View view = View::grouped({"R", "L"}, {axes.kept, axes.summed}, extents);
  bound.operands["src"] = {node.input_id(0), view};
  bound.operands["dst"] = {node.output_id(), view};
  return bound;
}

}  // namespace

const Operator& operator_Softmax() {
  static const Operator kOperator{
      .name = "Softmax",
      .attributes = {"axis"},
      .since_opset = 1,
      .infer =
          [](const NodeView& node) {
            (void)axes_of(node);
            return std::vector<TensorType>{node.input(0)};
          },
      .reference = reference_softmax,
      .lower = lower_softmax,
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton
