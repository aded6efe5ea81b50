// SPDX-License-Identifier: Apache-2.0
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

/// From opset 21 on scale and shift have a number for each channel, before one for each group.
constexpr std::int64_t kScalesChannels = 21;

std::int64_t checked_groups(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  for (std::size_t i = 0; i < 3; ++i) require_real(node, i);
  if (shape.size() < 2) {
    node.fail("its input is " + to_string(shape) + "; a batch and channels are expected");
  }
  const std::int64_t groups = node.integer("num_groups", 0);
  if (groups < 1 || shape[1] % groups != 0) {
    node.fail("num_groups is " + std::to_string(groups) + "; it must divide the " +
              std::to_string(shape[1]) + " channels");
  }
  const Shape expected{node.opset() < kScalesChannels ? groups : shape[1]};
  require_shape(node, 1, expected, "the scale");
  require_shape(node, 2, expected, "the shift");
  if (const std::int64_t stash = node.integer("stash_type", 1); stash != 1) {
    node.unsupported("stash_type " + std::to_string(stash) +
                     " is not supported; 1 (computed in f32) is");
  }
  return groups;
}

TensorId filled(GraphWriter& writer, std::int64_t count, double value) {
  Tensor tensor = Tensor::allocate(DType::f32, {count});
  for (std::int64_t i = 0; i < count; ++i) tensor.set(i, value);
  return writer.constant(std::move(tensor));
}

/// InstanceNormalization of the groups, and what scales the channels behind it.
std::vector<TensorId> expand_group_normalization(Expansion& out) {
  const NodeView& node = out.node();
  const std::int64_t groups = checked_groups(node);
  const Shape shape = node.input(0).shape;
  const DType type = node.input(0).dtype;
  const std::int64_t count = element_count(shape);
  const std::int64_t rest = shape[0] * groups == 0 ? 0 : count / (shape[0] * groups);
  const TensorId x = out.reshaped(widened(out, out.input(0)), {shape[0], groups, rest});
  const bool of_groups = node.opset() < kScalesChannels;
  const TensorId scale = widened(out, out.input(1));
  const TensorId shift = widened(out, out.input(2));
  const TensorId units = out.add("InstanceNormalization",
                                 {x, of_groups ? scale : filled(out, groups, 1.0),
                                  of_groups ? shift : filled(out, groups, 0.0)},
                                 {{"epsilon", node.real("epsilon", 1e-5)}});
  const TensorId whole = out.reshaped(units, shape);
  if (of_groups) return {out.converted(whole, type)};
  Shape channels(shape.size() - 1, 1);
  channels[0] = shape[1];
  Chain chain;
  chain.input_count = 3;
  const ScalarRef scaled = chain.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::input(1)});
  chain.append(ScalarOp::add, {scaled, ScalarRef::input(2)});
  const TensorId result =
      out.chain(chain, {whole, out.reshaped(scale, channels), out.reshaped(shift, channels)});
  return {out.converted(result, type)};
}

}  // namespace

const Operator& operator_GroupNormalization() {
  static const Operator kOperator{
      .name = "GroupNormalization",
      .inputs = {.least = 3, .most = 3, .parameters = {1, 2}},
      .attributes = {"epsilon", "num_groups", "stash_type"},
      .since_opset = 18,
      .expand = expand_group_normalization,
  };
  return kOperator;
}

}  // namespace morton::ops
