// SPDX-License-Identifier: Apache-2.0
#include "ops/math/convolution.hpp"

#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

/// The bias as it broadcasts over a result of so many channels.
Shape bias_shape(const ImageShape& source, std::int64_t outputs) {
  return source.line ? Shape{outputs, 1} : Shape{outputs, 1, 1};
}

}  // namespace

void check_bias(const NodeView& node, std::int64_t outputs) {
  if (!node.has_input(2) || node.input(2).shape == Shape{outputs}) return;
  node.fail("the bias is " + to_string(node.input(2).shape) + ", expected " +
            std::to_string(outputs));
}

ReferenceTensor with_bias(const NodeView& node, const ImageShape& source, ReferenceTensor sums,
                          std::span<const ReferenceTensor> inputs) {
  if (!node.has_input(2)) return sums;
  const ChainOperand operands[] = {{&sums, sums.shape},
                                   {&inputs[2], bias_shape(source, sums.shape[1])}};
  return evaluate(single_step(ScalarOp::add), operands, sums.shape);
}

BoundProblem lower_sums(const NodeView& node, Family family, const ImageShape& source,
                        const Shape& extents) {
  const Shape& image = source.shape;
  BoundProblem bound;
  bound.problem.family = family;
  bound.problem.extents = {{"N", image[0]},   {"C", image[1]},   {"H", image[2]},
                           {"W", image[3]},   {"O", extents[1]}, {"OH", extents[2]},
                           {"OW", extents[3]}};
  bound.operands["src"] = {node.input_id(0), source.view({"N", "C", "H", "W"})};
  bound.operands["dst"] = {node.output_id(), source.view({"N", "O", "OH", "OW"})};
  return bound;
}

BoundProblem lower_convolution(const NodeView& node, Family family, const ImageShape& source,
                               const Shape& extents) {
  BoundProblem bound = lower_sums(node, family, source, extents);
  if (node.has_input(2)) {
    bound.problem.epilogue = single_step(ScalarOp::add);
    bound.sides.push_back({node.input_id(2), bias_shape(source, extents[1])});
  }
  return bound;
}

void give_bias_gradient(Gradient& gradient) {
  const TensorId output_gradient = gradient.of_output();
  std::vector<std::int64_t> axes{0};
  const auto rank = static_cast<std::int64_t>(gradient.shape_of(output_gradient).size());
  for (std::int64_t d = 2; d < rank; ++d) axes.push_back(d);
  gradient.give(
      2, gradient.reshaped(gradient.sum(output_gradient, axes), gradient.node().input(2).shape));
}

}  // namespace morton::ops
