// SPDX-License-Identifier: Apache-2.0
#include "ops/math/softmax_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/math/summation.hpp"

namespace morton::ops {

Along softmax_along(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  const bool matrix = node.opset() < 13;
  const auto last = static_cast<std::int64_t>(rank) - (matrix ? 0 : 1);
  const std::size_t axis = node.axis(node.integer("axis", matrix ? 1 : -1), rank, last);
  std::vector<std::size_t> axes;
  for (std::size_t d = axis; d < (matrix ? rank : axis + 1); ++d) axes.push_back(d);
  return along(rank, axes);
}

std::vector<std::int64_t> softmax_axes(const NodeView& node) {
  const std::vector<int> axes = softmax_along(node).along;
  return {axes.begin(), axes.end()};
}

std::vector<TensorType> infer_softmax(const NodeView& node) {
  (void)softmax_along(node);
  return {node.input(0)};
}

BoundProblem lower_softmax(const NodeView& node, Family family) {
  const Along rows = softmax_along(node);
  const Shape shape = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = family;
  set_extents(bound.problem, rows, shape);
  const View view = view_along(rows, shape);
  bound.operands["src"] = {node.input_id(0), view};
  bound.operands["dst"] = {node.output_id(), view};
  return bound;
}

ExponentialRow exponentials(const ReferenceTensor& source, const std::vector<std::size_t>& row) {
  ExponentialRow result;
  result.largest = -std::numeric_limits<double>::infinity();
  for (const std::size_t at : row) result.largest = std::max(result.largest, source.value[at]);
  double sum_error = 0.0;
  for (const std::size_t at : row) {
    const double distance = source.value[at] - result.largest;
    if (std::isinf(distance)) {  // of -infinity, exactly 0
      result.relative.push_back(0.0);
      result.value.push_back(0.0);
      continue;
    }
    const double moved = source.error[at] + kUnitRoundoff * std::fabs(distance);
    result.relative.push_back(std::expm1(moved) + 3.0 * 2.0 * kUnitRoundoff);
    result.value.push_back(std::exp(distance));
    result.sum += result.value.back();
    sum_error += result.value.back() * result.relative.back();
  }
  const double factor = same_sign_factor(static_cast<std::int64_t>(row.size()));
  result.sum_relative = sum_error / result.sum + factor * kUnitRoundoff;
  return result;
}

}  // namespace morton::ops
