// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/math/normalization.hpp"
#include "ops/math/normalization_gradient.hpp"

namespace morton::ops {
namespace {

Along planes_of(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  if (shape.size() < 3) {
    node.fail("its input is " + to_string(shape) + "; a batch, channels and an image are expected");
  }
  for (std::size_t i = 1; i < 3; ++i) {
    if (node.input(i).shape == Shape{shape[1]}) continue;
    node.fail("input " + std::to_string(i) + " is " + to_string(node.input(i).shape) +
              ", expected one number for each of the " + std::to_string(shape[1]) + " channels");
  }
  std::vector<std::size_t> axes(shape.size() - 2);
  std::iota(axes.begin(), axes.end(), std::size_t{2});
  return along(shape.size(), axes);
}

/// One number for each channel, as it broadcasts against the result.
Shape channel_shape(const Shape& shape) {
  Shape result(shape.size() - 1, 1);
  result[0] = shape[1];
  return result;
}

double instance_epsilon(const NodeView& node) { return node.real("epsilon", 1e-5); }

ReferenceTensor reference_instance(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const ReferenceTensor units =
      reference_normalize(planes_of(node), inputs[0], Norm::deviation, instance_epsilon(node));
  const Shape channels = channel_shape(units.shape);
  const ChainOperand operands[] = {
      {&units, units.shape}, {&inputs[1], channels}, {&inputs[2], channels}};
  return evaluate(scale_chain(Shift::added), operands, units.shape);
}

BoundProblem lower_instance(const NodeView& node) {
  BoundProblem bound =
      lower_normalize(node, planes_of(node), Norm::deviation, instance_epsilon(node));
  const Shape channels = channel_shape(node.input(0).shape);
  bound.problem.epilogue = scale_chain(Shift::added);
  bound.sides = {{node.input_id(1), channels}, {node.input_id(2), channels}};
  return bound;
}

void gradient_of_instance(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Shape channels = channel_shape(node.input(0).shape);
  gradient_of_deviations(gradient, planes_of(node), instance_epsilon(node), {channels, channels});
}

}  // namespace

const Operator& operator_InstanceNormalization() {
  static const Operator kOperator{
      .name = "InstanceNormalization",
      .inputs = {.least = 3, .most = 3, .parameters = {1, 2}},
      .attributes = {"epsilon"},
      .since_opset = 6,
      .infer =
          [](const NodeView& node) {
            (void)planes_of(node);
            return std::vector<TensorType>{node.input(0)};
          },
      .host = {.reference = reference_instance},
      .lower = lower_instance,
      .gradient = gradient_of_instance,
  };
  return kOperator;
}

}  // namespace morton::ops
