// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "ops/reduction.hpp"
#include "ops/softmax_rows.hpp"
#include "ops/summation.hpp"

namespace morton {
namespace {

/// log(sum of exp(x)), by the distances from the largest element as a device does: the logarithm
/// moves by the sum's share of error and rounds by 3 ulp, the sum with the largest rounds once.
ReferenceTensor reference_log_sum_exp(const NodeView& node,
                                      std::span<const ReferenceTensor> inputs) {
  ReferenceTensor result;
  result.shape = infer_reduction(node)[0].shape;
  const Along rows = along(inputs[0].shape.size(), reduced_axes(node));
  for_each_row(rows, inputs[0].shape, [&](const std::vector<std::size_t>& row) {
    const ExponentialRow terms = exponentials(inputs[0], row);
    const double log_of_sum = std::log(terms.sum);
    const double value = terms.largest + log_of_sum;
    const double rounding =
        3.0 * 2.0 * kUnitRoundoff * std::fabs(log_of_sum) + 2.0 * kUnitRoundoff * std::fabs(value);
    result.value.push_back(value);
    result.error.push_back(terms.sum_relative + rounding +
                           static_cast<double>(std::numeric_limits<float>::min()));
  });
  return result;
}

BoundProblem lower_log_sum_exp(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  const Along rows = along(shape.size(), reduced_axes(node));
  const Reduced reduced = node.flag("keepdims", 1) ? Reduced::kept_as_one : Reduced::dropped;
  BoundProblem bound;
  bound.problem.family = "log_sum_exp";
  bound.problem.types["acc"] = node.input(0).dtype;
  set_extents(bound.problem, rows, shape);
  bound.operands["src"] = {node.input_id(0), view_along(rows, shape)};
  bound.operands["dst"] = {node.output_id(), view_of_reduced(rows, shape, reduced)};
  return bound;
}

}  // namespace

const Operator& operator_ReduceLogSumExp() {
  static const Operator kOperator{
      .name = "ReduceLogSumExp",
      .most_inputs = 2,
      .attributes = {"axes", "keepdims", "noop_with_empty_axes"},
      .since_opset = 1,
      .infer = infer_reduction,
      .reference = reference_log_sum_exp,
      .lower = lower_log_sum_exp,
      .types = {DType::f32, DType::f64},
      .planned_inputs = {1},
  };
  return kOperator;
}

}  // namespace morton
