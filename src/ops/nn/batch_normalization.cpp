// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

/// Scale, shift, mean and variance have one number for each channel.
Shape checked_shape(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  if (shape.size() < 2) {
    node.fail("its input is " + to_string(shape) + "; a batch and channels are expected");
  }
  for (std::size_t i = 1; i < 5; ++i) {
    if (node.input(i).shape == Shape{shape[1]}) continue;
    node.fail("input " + std::to_string(i) + " is " + to_string(node.input(i).shape) +
              ", expected one number for each of the " + std::to_string(shape[1]) + " channels");
  }
  if (node.opset() < 9 && !node.flag("spatial", 1)) {
    node.unsupported("spatial 0 (statistics for each element) is not supported");
  }
  return shape;
}

/// One number for each channel, as it broadcasts against the result.
Shape batch_norm_shape(const Shape& shape) {
  Shape result(shape.size() - 1, 1);
  result[0] = shape[1];
  return result;
}

/// (v - mean) / sqrt(variance + epsilon) * scale + shift; inputs 1 to 4 are scale, shift, mean and
/// variance.
Chain chain_of(const NodeView& node) {
  Chain chain;
  chain.input_count = 5;
  const auto in = [](int i) { return ScalarRef::input(i); };
  const ScalarRef epsilon = ScalarRef::constant(node.real("epsilon", 1e-5));
  const ScalarRef distance = chain.append(ScalarOp::sub, {in(0), in(3)});
  const ScalarRef variance = chain.append(ScalarOp::add, {in(4), epsilon});
  const ScalarRef deviation = chain.append(ScalarOp::sqrt, {variance});
  const ScalarRef unit = chain.append(ScalarOp::div, {distance, deviation});
  const ScalarRef scaled = chain.append(ScalarOp::mul, {unit, in(1)});
  chain.append(ScalarOp::add, {scaled, in(2)});
  return chain;
}

/// By the chain, or as x * a + b with a = scale / deviation and b = shift - mean * a rounded to
/// f32, as a pass that folds constants leaves it: where x is near the mean, x * a and b cancel.
ReferenceTensor reference_batch(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Shape shape = checked_shape(node);
  std::vector<ChainOperand> operands{{&inputs[0], shape}};
  for (std::size_t i = 1; i < 5; ++i) operands.push_back({&inputs[i], batch_norm_shape(shape)});
  ReferenceTensor result = evaluate(chain_of(node), operands, shape);
  const auto channels = static_cast<std::size_t>(shape[1]);
  const std::size_t plane = result.value.size() / (static_cast<std::size_t>(shape[0]) * channels);
  for (std::size_t at = 0; at < result.value.size(); ++at) {
    const std::size_t c = at / plane % channels;
    const double deviation = std::sqrt(inputs[4].value[c] + node.real("epsilon", 1e-5));
    const double a = std::fabs(inputs[1].value[c] / deviation);
    const double mean = std::fabs(inputs[3].value[c]);
    const double shift = std::fabs(inputs[2].value[c]);
    const double x = std::fabs(inputs[0].value[at]);
    result.error[at] += 2.0 * kUnitRoundoff * ((2.0 * x + mean) * a + shift);
  }
  return result;
}

BoundProblem lower_batch(const NodeView& node) {
  const Shape shape = checked_shape(node);
  BoundProblem bound;
  bound.problem.family = families::elementwise;
  std::vector<std::string> dimensions;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    dimensions.push_back("D" + std::to_string(d));
    bound.problem.extents[dimensions.back()] = shape[d];
  }
  bound.operands["src0"] = {node.input_id(0), View::identity(dimensions)};
  bound.operands["dst"] = {node.output_id(), View::identity(dimensions)};
  bound.problem.epilogue = chain_of(node);
  for (std::size_t i = 1; i < 5; ++i) {
    bound.sides.push_back({node.input_id(i), batch_norm_shape(shape)});
  }
  return bound;
}

/// Of the given statistics, which get gradients as any input.
void gradient_of_batch(Gradient& gradient) {
  const Shape shape = checked_shape(gradient.node());
  std::vector<Shape> shapes(5, batch_norm_shape(shape));
  shapes[0] = shape;
  gradient_of_chain(gradient, chain_of(gradient.node()), shapes);
}

/// With `training_mode`: scaled and shifted by the batch's own mean and variance, which also move
/// the given ones, outputs 1 and 2.
std::vector<TensorId> expand_training(Expansion& out) {
  const NodeView& node = out.node();
  if (!node.flag("training_mode", 0)) return {};
  const Shape shape = checked_shape(node);
  const DType type = node.input(0).dtype;
  const DType own = is_short_real(type) ? DType::f32 : type;
  const auto in = [&](std::size_t i) { return out.converted(out.input(i), own); };
  std::vector<std::int64_t> axes{0};
  for (std::size_t d = 2; d < shape.size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  const TensorId x = in(0);
  const TensorId mean = out.mean(x, axes);
  const TensorId distance = out.apply(ScalarOp::sub, {x, mean});
  const TensorId variance = out.mean(out.apply(ScalarOp::mul, {distance, distance}), axes);
  const TensorId scale = out.reshaped(in(1), batch_norm_shape(shape));
  const TensorId shift = out.reshaped(in(2), batch_norm_shape(shape));
  const TensorId result = out.chain(chain_of(node), {x, scale, shift, mean, variance});
  std::vector<TensorId> results{out.converted(result, type)};
  Chain moved;
  moved.input_count = 2;
  const double momentum = node.real("momentum", 0.9);
  const ScalarRef old =
      moved.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::constant(momentum)});
  const ScalarRef now =
      moved.append(ScalarOp::mul, {ScalarRef::input(1), ScalarRef::constant(1.0 - momentum)});
  moved.append(ScalarOp::add, {old, now});
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const TensorId batch = out.reshaped(i == 1 ? mean : variance, {shape[1]});
    const TensorId given = in(i + 2);
    results.push_back(out.has_output(i)
                          ? out.converted(out.chain(moved, {given, batch}), node.input(i + 2).dtype)
                          : kNoTensor);
  }
  return results;
}

}  // namespace

const Operator& operator_BatchNormalization() {
  static const Operator kOperator{
      .name = "BatchNormalization",
      .inputs = {.least = 5, .most = 5, .parameters = {1, 2}},
      .attributes = {"epsilon", "momentum", "training_mode", "spatial"},
      .since_opset = 7,
      .infer =
          [](const NodeView& node) {
            (void)checked_shape(node);
            std::vector<TensorType> types{node.input(0)};
            if (node.flag("training_mode", 0)) types.insert(types.end(), 2, node.input(3));
            return types;
          },
      .host = {.reference = reference_batch},
      .lower = lower_batch,
      .expand = expand_training,
      .gradient = gradient_of_batch,
  };
  return kOperator;
}

}  // namespace morton::ops
