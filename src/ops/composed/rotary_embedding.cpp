// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/typed_chain.hpp"
#include "base/shape.hpp"
#include "ops/composed/rotation.hpp"
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

/// The input as [batch, positions, heads, length of a head], or with heads before positions.
struct Heads {
  Shape shape;            ///< of four dimensions
  std::size_t positions;  ///< which of them counts positions
};

Heads checked_heads(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  for (std::size_t i = 0; i < 3; ++i) require_real(node, i);
  const std::int64_t heads = node.integer("num_heads", 0);
  if (shape.size() == 4) return {shape, 2};
  if (shape.size() != 3) {
    node.fail("its input is " + to_string(shape) + ", expected 3 or 4 dimensions");
  }
  if (heads < 1 || shape[2] % heads != 0) {
    node.fail("num_heads is " + std::to_string(heads) + "; of an input of 3 dimensions it must " +
              "divide the last, " + std::to_string(shape[2]));
  }
  return {{shape[0], shape[1], heads, shape[2] / heads}, 1};
}

std::int64_t checked_rotated(const NodeView& node, const Heads& heads) {
  const std::int64_t length = heads.shape[3];
  const std::int64_t given = node.integer("rotary_embedding_dim", 0);
  const std::int64_t rotated = given == 0 ? length : given;
  if (rotated < 2 || rotated > length || rotated % 2 != 0) {
    node.fail("rotates " + std::to_string(rotated) + " of the " + std::to_string(length) +
              " elements of a head; expected an even number of at most all");
  }
  return rotated;
}

/// Checks the caches and the positions.
void check_caches(const NodeView& node, const Heads& heads, std::int64_t rotated) {
  const std::int64_t batch = heads.shape[0];
  const std::int64_t positions = heads.shape[heads.positions];
  if (node.has_input(3)) {
    if (is_real(node.input(3).dtype) || node.input(3).dtype == DType::boolean) {
      node.fail("position_ids (input 3) are of type " + std::string(name_of(node.input(3).dtype)) +
                ", expected integers");
    }
    require_shape(node, 3, {batch, positions}, "position_ids");
    require_rank(node, 1, 2, "the cache of cosines");
    require_shape(node, 1, {node.input(1).shape[0], rotated / 2}, "the cache of cosines");
    require_shape(node, 2, node.input(1).shape, "the cache of sines");
    return;
  }
  require_shape(node, 1, {batch, positions, rotated / 2}, "the cache of cosines");
  require_shape(node, 2, {batch, positions, rotated / 2}, "the cache of sines");
}

std::vector<TensorId> expand_rotary(Expansion& out) {
  const NodeView& node = out.node();
  const Heads heads = checked_heads(node);
  const std::int64_t rotary = checked_rotated(node, heads);
  check_caches(node, heads, rotary);
  Shape angles = heads.shape;
  angles[heads.positions == 1 ? 2 : 1] = 1;
  angles[3] = rotary / 2;
  const auto angle = [&](std::size_t i) {
    TensorId value = out.input(i);
    if (node.has_input(3)) value = out.add("Gather", {value, out.input(3)});
    return out.reshaped(widened(out, value), angles);
  };
  const bool neighbours = node.flag("interleaved", 0);
  const Rotation rotation{angle(1), angle(2),
                          neighbours ? Rotation::Pairs::neighbours : Rotation::Pairs::halves};
  const TensorId x = out.reshaped(widened(out, out.input(0)), heads.shape);
  const TensorId result = out.reshaped(rotated(out, x, rotation), node.input(0).shape);
  return {out.converted(result, node.input(0).dtype)};
}

}  // namespace

const Operator& operator_RotaryEmbedding() {
  static const Operator kOperator{
      .name = "RotaryEmbedding",
      .inputs = {.least = 3, .most = 4},
      .attributes = {"interleaved", "num_heads", "rotary_embedding_dim"},
      .since_opset = 23,
      .expand = expand_rotary,
  };
  return kOperator;
}

}  // namespace morton::ops
