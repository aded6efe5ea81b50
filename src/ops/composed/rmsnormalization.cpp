// SPDX-License-Identifier: Apache-2.0
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

void check_rms(const NodeView& node) {
  require_real(node, 0);
  require_real(node, 1);
  const Shape shape = node.input(0).shape;
  const Shape scale = node.input(1).shape;
  if (node.broadcast(scale, shape) != shape) {
    node.fail("the scale, " + to_string(scale) + ", does not broadcast to " + to_string(shape));
  }
  const std::int64_t stash = node.integer("stash_type", 1);
  if (stash != 1 && stash != 10 && stash != 16) {
    node.unsupported("stash_type " + std::to_string(stash) +
                     " is not supported; 1, 10 and 16 (all computed in f32) are");
  }
}

/// x / sqrt(mean of squares + epsilon) * scale, all dimensions from `axis` on making up a row. The
/// result has the scale's type.
std::vector<TensorId> expand_rms(Expansion& out) {
  const NodeView& node = out.node();
  check_rms(node);
  const std::size_t rank = node.input(0).shape.size();
  const std::size_t first =
      node.axis(node.integer("axis", -1), rank, static_cast<std::int64_t>(rank) - 1);
  const DType type = node.input(0).dtype;
  const DType scale_type = node.input(1).dtype;
  const TensorId x = widened(out, out.input(0));
  TensorId units =
      root_mean_square(out, x, dimensions_between(first, rank), node.real("epsilon", 1e-5)).units;
  if (computed_type(type) != type) units = out.converted(units, type);
  units = widened(out, out.converted(units, scale_type));
  const TensorId scaled = out.apply(ScalarOp::mul, {units, widened(out, out.input(1))});
  return {out.converted(scaled, scale_type)};
}

}  // namespace

const Operator& operator_RMSNormalization() {
  static const Operator kOperator{
      .name = "RMSNormalization",
      .inputs = {.least = 2, .most = 2, .parameters = {1}},
      .attributes = {"axis", "epsilon", "stash_type"},
      .since_opset = 23,
      .expand = expand_rms,
  };
  return kOperator;
}

}  // namespace morton::ops
