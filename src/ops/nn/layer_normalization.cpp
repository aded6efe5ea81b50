// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/normalization.hpp"
#include "ops/math/normalization_gradient.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {
namespace {

/// All dimensions from `axis` on.
Along layer_norm_rows(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  const std::size_t first =
      node.axis(node.integer("axis", -1), rank, static_cast<std::int64_t>(rank) - 1);
  std::vector<std::size_t> axes;
  for (std::size_t d = first; d < rank; ++d) axes.push_back(d);
  return along(rank, axes);
}

double layer_epsilon(const NodeView& node) { return node.real("epsilon", 1e-5); }

Shift shift_of(const NodeView& node) { return node.has_input(2) ? Shift::added : Shift::none; }

/// The type of means and deviations, which are computed in f32.
DType moment_type(const NodeView& node) {
  switch (const std::int64_t stash = node.integer("stash_type", 1)) {
    case 1:
      return DType::f32;
    case 10:
      return DType::f16;
    case 16:
      return DType::bf16;
    default:
      node.unsupported("stash_type " + std::to_string(stash) +
                       " is not supported; 1, 10 and 16 (mean and deviation in f32) are");
  }
}

std::vector<TensorType> infer_layer(const NodeView& node) {
  const TensorType type = node.input(0);
  (void)layer_norm_rows(node);
  (void)moment_type(node);
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    const Shape shape = node.input(i).shape;
    if (node.broadcast(shape, type.shape) == type.shape) continue;
    node.fail("input " + std::to_string(i) + ", " + to_string(shape) + ", does not broadcast to " +
              to_string(type.shape));
  }
  const TensorType moment{moment_type(node),
                          reduced_shape(layer_norm_rows(node), type.shape, Reduced::kept_as_one)};
  return {type, moment, moment};
}

std::vector<ReferenceTensor> references_layer(const NodeView& node,
                                              std::span<const ReferenceTensor> inputs) {
  const ReferenceTensor units =
      reference_normalize(layer_norm_rows(node), inputs[0], Norm::deviation, layer_epsilon(node));
  std::vector<ChainOperand> operands{{&units, units.shape}, {&inputs[1], inputs[1].shape}};
  if (node.has_input(2)) operands.push_back({&inputs[2], inputs[2].shape});
  const RowMoments moments = row_moments(layer_norm_rows(node), inputs[0], layer_epsilon(node));
  std::vector<ReferenceTensor> results(3);
  results[0] = evaluate(scale_chain(shift_of(node)), operands, units.shape);
  for (std::size_t i = 1; i < 3; ++i) {
    results[i].shape = reduced_shape(layer_norm_rows(node), units.shape, Reduced::kept_as_one);
    for (const Bounded& value : i == 1 ? moments.mean : moments.inverse_deviation) {
      results[i].value.push_back(value.value);
      results[i].error.push_back(value.error);
    }
  }
  return results;
}

BoundProblem lower_units(const NodeView& node) {
  BoundProblem bound =
      lower_normalize(node, layer_norm_rows(node), Norm::deviation, layer_epsilon(node));
  bound.problem.epilogue = scale_chain(shift_of(node));
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    if (node.has_input(i)) bound.sides.push_back({node.input_id(i), node.input(i).shape});
  }
  return bound;
}

/// A problem for each output that is asked for: the result, the means, the deviations' inverses.
std::vector<BoundProblem> lower_layer(const NodeView& node) {
  const auto is_asked_for = [&](std::size_t output) {
    const auto& outputs = node.node().outputs;
    return output < outputs.size() && outputs[output] != kNoTensor;
  };
  std::vector<BoundProblem> parts;
  if (is_asked_for(0)) parts.push_back(lower_units(node));
  if (is_asked_for(1)) {
    parts.push_back(lower_along(node, layer_norm_rows(node), Reduced::kept_as_one,
                                {.finish = Reduction::Finish::mean}, node.output_id(1)));
  }
  if (is_asked_for(2)) {
    parts.push_back(lower_inverse_deviation(node, layer_norm_rows(node), layer_epsilon(node), 2));
  }
  return parts;
}

/// With means of 16 bits: what computes them in f32, and conversions.
std::vector<TensorId> expand_layer(Expansion& out) {
  const NodeView& node = out.node();
  if (moment_type(node) == DType::f32) return {};
  const std::vector<TensorType> types = infer_layer(node);
  auto attributes = node.node().attributes;
  attributes["stash_type"] = std::int64_t{1};
  const std::vector<TensorId> results = out.add_several(
      "LayerNormalization", {out.input(0), out.input(1), out.input(2)}, 3, attributes);
  std::vector<TensorId> converted;
  for (std::size_t i = 0; i < 3; ++i) {
    converted.push_back(out.has_output(i) ? out.converted(results[i], types[i].dtype) : kNoTensor);
  }
  return converted;
}

void gradient_of_layer(Gradient& gradient) {
  const NodeView& node = gradient.node();
  for (std::size_t i = 1; i < node.node().outputs.size(); ++i) {
    if (gradient.of_output(i) != kNoTensor) {
      node.unsupported("has a gradient where only its first output is used");
    }
  }
  std::vector<Shape> shapes;
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    shapes.push_back(node.has_input(i) ? node.input(i).shape : Shape{});
  }
  gradient_of_deviations(gradient, layer_norm_rows(node), layer_epsilon(node), shapes);
}

}  // namespace

const Operator& operator_LayerNormalization() {
  static const Operator kOperator{
      .name = "LayerNormalization",
      .inputs = {.least = 2, .most = 3, .parameters = {1, 2}},
      .attributes = {"axis", "epsilon", "stash_type"},
      .since_opset = 17,
      .infer = infer_layer,
      .host = {.references = references_layer},
      .parts = lower_layer,
      .expand = expand_layer,
      .gradient = gradient_of_layer,
  };
  return kOperator;
}

}  // namespace morton::ops
