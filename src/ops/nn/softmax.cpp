// SPDX-License-Identifier: Apache-2.0
#include "problems/softmax.hpp"

#include <limits>

#include "ops/core/expansion.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/softmax_rows.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

/// exp(x - largest) / sum of the same. Division is 2.5 ulp, and one more stands for a reciprocal
/// and a product in its place.
ReferenceTensor reference_softmax(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  ReferenceTensor result = inputs[0];
  for_each_row(softmax_along(node), result.shape, [&](const std::vector<std::size_t>& row) {
    const ExponentialRow terms = exponentials(inputs[0], row);
    const double shared = terms.sum_relative + 3.5 * 2.0 * kUnitRoundoff;
    const double smallest = static_cast<double>(std::numeric_limits<float>::min());
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double value = terms.value[i] / terms.sum;
      result.value[row[i]] = value;
      result.error[row[i]] = value * (terms.relative[i] + shared) + smallest;
    }
  });
  return result;
}

/// Of f64, for which no kernel is: the exponentials of the distances from the largest, by their
/// sum.
std::vector<TensorId> expand_softmax(Expansion& out) {
  if (out.node().input(0).dtype != DType::f64) return {};
  const std::vector<std::int64_t> axes = softmax_axes(out.node());
  const TensorId largest = out.add("ReduceMax", {out.input(0), out.list(axes)});
  const TensorId terms = out.add("Exp", {out.add("Sub", {out.input(0), largest})});
  return {out.add("Div", {terms, out.sum(terms, axes)})};
}

/// With y the result: dX = y (dY - sum of dY y along the row).
void gradient_of_softmax(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const TensorId y = node.output_id();
  const TensorId share = gradient.apply(ScalarOp::mul, {gradient.of_output(), y});
  const TensorId sum = gradient.sum(share, softmax_axes(node));
  Chain chain;
  chain.input_count = 3;
  const ScalarRef less = chain.append(ScalarOp::sub, {ScalarRef::input(0), ScalarRef::input(2)});
  chain.append(ScalarOp::mul, {ScalarRef::input(1), less});
  gradient.give(0, gradient.chain(chain, {gradient.of_output(), y, sum}));
}

}  // namespace

const Operator& operator_Softmax() {
  static const Operator kOperator{
      .name = "Softmax",
      .attributes = {"axis"},
      .since_opset = 1,
      .infer = infer_softmax,
      .host = {.reference = reference_softmax},
      .lower =
          [](const NodeView& node) {
            BoundProblem bound = lower_softmax(node, families::softmax);
            bound.problem.structure = numbers_of(SoftmaxStructure{});
            return bound;
          },
      .expand = expand_softmax,
      .gradient = gradient_of_softmax,
  };
  return kOperator;
}

}  // namespace morton::ops
