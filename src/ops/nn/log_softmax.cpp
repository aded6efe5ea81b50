// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/softmax_rows.hpp"
#include "ops/math/summation.hpp"
#include "problems/softmax.hpp"

namespace morton::ops {
namespace {

/// x - largest - log(sum of exp(x - largest)). The logarithm moves by the sum's share of error and
/// rounds by 3 ulp; each difference rounds once, and one more stands for another order of the two.
/// The largest element's error does not cancel in the logarithm of the sum.
ReferenceTensor reference_log_softmax(const NodeView& node,
                                      std::span<const ReferenceTensor> inputs) {
  ReferenceTensor result = inputs[0];
  for_each_row(softmax_along(node), result.shape, [&](const std::vector<std::size_t>& row) {
    const ExponentialRow terms = exponentials(inputs[0], row);
    const double log_of_sum = std::log(terms.sum);
    const double shared = terms.sum_relative + 3.0 * 2.0 * kUnitRoundoff * std::fabs(log_of_sum) +
                          static_cast<double>(std::numeric_limits<float>::min());
    for (const std::size_t at : row) {
      const double distance = inputs[0].value[at] - terms.largest;
      const double rounding =
          2.0 * kUnitRoundoff * (2.0 * std::fabs(distance) + std::fabs(log_of_sum));
      result.value[at] = distance - log_of_sum;
      result.error[at] += shared + rounding;
    }
  });
  return result;
}

/// With y the result: dX = dY - exp(y) times the sum of dY along the row.
void gradient_of_log_softmax(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const TensorId output_gradient = gradient.of_output();
  const TensorId sum = gradient.sum(output_gradient, softmax_axes(node));
  Chain chain;
  chain.input_count = 3;
  const ScalarRef power = chain.append(ScalarOp::exp, {ScalarRef::input(1)});
  const ScalarRef share = chain.append(ScalarOp::mul, {power, ScalarRef::input(2)});
  chain.append(ScalarOp::sub, {ScalarRef::input(0), share});
  gradient.give(0, gradient.chain(chain, {output_gradient, node.output_id(), sum}));
}

}  // namespace

const Operator& operator_LogSoftmax() {
  static const Operator kOperator{
      .name = "LogSoftmax",
      .attributes = {"axis"},
      .since_opset = 1,
      .infer = infer_softmax,
      .host = {.reference = reference_log_softmax},
      .lower =
          [](const NodeView& node) {
            BoundProblem bound = lower_softmax(node, families::softmax);
            bound.problem.structure =
                numbers_of(SoftmaxStructure{SoftmaxStructure::Result::logarithm});
            return bound;
          },
      .gradient = gradient_of_log_softmax,
  };
  return kOperator;
}

}  // namespace morton::ops
