// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/reduction.hpp"
#include "ops/math/softmax_rows.hpp"
#include "ops/math/summation.hpp"
#include "ops/reduce/reduce_composed.hpp"

namespace morton::ops {
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
    const bool has_nan =
        std::ranges::any_of(row, [&](std::size_t at) { return std::isnan(inputs[0].value[at]); });
    if (std::isinf(terms.largest) && !has_nan) {  // distances from it say nothing
      result.value.push_back(terms.largest);
      result.error.push_back(0.0);
      return;
    }
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

/// Of no elements: the logarithm of 0.
std::vector<TensorId> expand_log_sum_exp(Expansion& expansion) {
  return expand_reduction(expansion, {.finish = Reduction::Finish::logarithm});
}

BoundProblem lower_log_sum_exp(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  const Along rows = along(shape.size(), reduced_axes(node));
  const Reduced reduced = node.flag("keepdims", 1) ? Reduced::kept_as_one : Reduced::dropped;
  BoundProblem bound;
  bound.problem.family = families::log_sum_exp;
  bound.problem.types["acc"] = node.input(0).dtype;
  set_extents(bound.problem, rows, shape);
  bound.operands["src"] = {node.input_id(0), view_along(rows, shape)};
  bound.operands["dst"] = {node.output_id(), view_of_reduced(rows, shape, reduced)};
  return bound;
}

/// With y the result: dX = dY exp(x - y).
void gradient_of_log_sum_exp(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Shape shape = node.input(0).shape;
  const Shape kept =
      reduced_shape(along(shape.size(), reduced_axes(node)), shape, Reduced::kept_as_one);
  Chain chain;
  chain.input_count = 3;
  const ScalarRef distance =
      chain.append(ScalarOp::sub, {ScalarRef::input(0), ScalarRef::input(2)});
  chain.append(ScalarOp::mul, {ScalarRef::input(1), chain.append(ScalarOp::exp, {distance})});
  gradient.give(
      0, gradient.chain(chain, {node.input_id(0), gradient.reshaped(gradient.of_output(), kept),
                                gradient.reshaped(node.output_id(), kept)}));
}

}  // namespace

const Operator& operator_ReduceLogSumExp() {
  static const Operator kOperator{
      .name = "ReduceLogSumExp",
      .inputs = {.most = 2, .planned = {1}},
      .attributes = {"axes", "keepdims", "noop_with_empty_axes"},
      .since_opset = 1,
      .infer = infer_reduction,
      .host = {.reference = reference_log_sum_exp},
      .lower = lower_log_sum_exp,
      .expand = expand_log_sum_exp,
      .types = {DType::f32, DType::f64},
      .gradient = gradient_of_log_sum_exp,
  };
  return kOperator;
}

}  // namespace morton::ops
