// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// Channels become blocks of B x B neighbours: the channel of the source that holds row y and
/// column x of the block is (y * B + x) * C + c in mode DCR and c * B * B + y * B + x in mode CRD.
struct Blocks {
  std::int64_t size = 1;
  bool depth_first = true;  ///< DCR
};

Blocks blocks_of(const NodeView& node) {
  Blocks blocks;
  blocks.size = node.integer("blocksize", 0);
  blocks.depth_first = is_depth_first(node);
  const Shape shape = node.input(0).shape;
  if (shape.size() != 4) node.fail("the input is " + to_string(shape) + ", expected N x C x H x W");
  if (blocks.size < 1 || shape[1] % checked_mul(blocks.size, blocks.size, "DepthToSpace") != 0) {
    node.fail("blocks of " + std::to_string(blocks.size) + " do not divide the " +
              std::to_string(shape[1]) + " channels");
  }
  return blocks;
}

std::vector<TensorType> infer_depth_to_space(const NodeView& node) {
  const std::int64_t size = blocks_of(node).size;
  TensorType result = node.input(0);
  result.shape[1] /= size * size;
  result.shape[2] = checked_mul(result.shape[2], size, "DepthToSpace");
  result.shape[3] = checked_mul(result.shape[3], size, "DepthToSpace");
  return {result};
}

std::vector<std::vector<Origin>> origins_of_depth_to_space(const NodeView& node) {
  const Blocks blocks = blocks_of(node);
  const Shape source = node.input(0).shape;
  const Shape result = infer_depth_to_space(node)[0].shape;
  return {origins_of(result, [&](const Shape& at) {
    const std::int64_t inside = at[2] % blocks.size * blocks.size + at[3] % blocks.size;
    const std::int64_t channel = blocks.depth_first ? inside * result[1] + at[1]
                                                    : at[1] * blocks.size * blocks.size + inside;
    return Origin{0, index_in(source, {at[0], channel, at[2] / blocks.size, at[3] / blocks.size})};
  })};
}

BoundProblem lower_depth_to_space(const NodeView& node) {
  const Blocks blocks = blocks_of(node);
  const Expression size(blocks.size);
  const Expression inside = Movement::at(2) % size * size + Movement::at(3) % size;
  const Expression channel = blocks.depth_first
                                 ? inside * Expression::variable("D1") + Movement::at(1)
                                 : Movement::at(1) * Expression(blocks.size * blocks.size) + inside;
  return Movement(node, 0, 0)
      .read({Movement::at(0), channel, Movement::at(2) / size, Movement::at(3) / size});
}

/// Each block back into its channels.
void gradient_of_depth_to_space(Gradient& gradient) {
  const Blocks blocks = blocks_of(gradient.node());
  const Shape source = gradient.node().input(0).shape;
  const std::int64_t channels = source[1] / (blocks.size * blocks.size);
  const TensorId split = gradient.reshaped(
      gradient.of_output(), {source[0], channels, source[2], blocks.size, source[3], blocks.size});
  const TensorId turned = blocks.depth_first ? gradient.transposed(split, {0, 3, 5, 1, 2, 4})
                                             : gradient.transposed(split, {0, 1, 3, 5, 2, 4});
  gradient.give(0, gradient.reshaped(turned, source));
}

}  // namespace

const Operator& operator_DepthToSpace() {
  static const Operator kOperator{
      .name = "DepthToSpace",
      .attributes = {"blocksize", "mode"},
      .since_opset = 1,
      .infer = infer_depth_to_space,
      .host = {.origins = origins_of_depth_to_space},
      .lower = lower_depth_to_space,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_depth_to_space,
  };
  return kOperator;
}

}  // namespace morton::ops
