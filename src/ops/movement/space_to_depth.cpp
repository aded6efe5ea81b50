// SPDX-License-Identifier: Apache-2.0
//
// Blocks of B x B neighbours become channels: row y and column x of each block is channel
// (y * B + x) * C + c of the result in mode DCR, and c * B * B + y * B + x in mode CRD.
#include <algorithm>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

std::int64_t block_of(const NodeView& node) {
  const std::int64_t size = node.integer("blocksize", 0);
  const Shape shape = node.input(0).shape;
  if (shape.size() != 4) node.fail("the input is " + to_string(shape) + ", expected N x C x H x W");
  if (size < 1 || shape[2] % size != 0 || shape[3] % size != 0) {
    node.fail("blocks of " + std::to_string(size) + " do not divide " + to_string(shape));
  }
  return size;
}

std::vector<TensorType> infer_space_to_depth(const NodeView& node) {
  const std::int64_t size = block_of(node);
  (void)is_depth_first(node);
  TensorType result = node.input(0);
  result.shape[1] = checked_mul(result.shape[1], size * size, "SpaceToDepth");
  result.shape[2] /= size;
  result.shape[3] /= size;
  return {result};
}

std::vector<std::vector<Origin>> origins_of_space_to_depth(const NodeView& node) {
  const std::int64_t size = block_of(node);
  const Shape source = node.input(0).shape;
  return {origins_of(infer_space_to_depth(node)[0].shape, [&](const Shape& at) {
    const bool depth_first = is_depth_first(node);
    const std::int64_t inside = depth_first ? at[1] / source[1] : at[1] % (size * size);
    const std::int64_t channel = depth_first ? at[1] % source[1] : at[1] / (size * size);
    const Shape from{at[0], channel, at[2] * size + inside / size, at[3] * size + inside % size};
    return Origin{0, index_in(source, from)};
  })};
}

BoundProblem lower_space_to_depth(const NodeView& node) {
  const Expression size(block_of(node));
  const bool depth_first = is_depth_first(node);
  const Expression channels = Movement::source_extent(1);
  const Expression inside =
      depth_first ? Movement::at(1) / channels : Movement::at(1) % (size * size);
  const Expression channel =
      depth_first ? Movement::at(1) % channels : Movement::at(1) / (size * size);
  return Movement(node, 0, 0)
      .read({Movement::at(0), channel, Movement::at(2) * size + inside / size,
             Movement::at(3) * size + inside % size});
}

/// Each pixel's channels back into a block.
void gradient_of_space_to_depth(Gradient& gradient) {
  const std::int64_t size = block_of(gradient.node());
  const Shape source = gradient.node().input(0).shape;
  const bool depth_first = is_depth_first(gradient.node());
  Shape apart{source[0], size, size, source[1], source[2] / size, source[3] / size};
  if (!depth_first) std::rotate(apart.begin() + 1, apart.begin() + 3, apart.begin() + 4);
  const std::vector<std::int64_t> order = depth_first ? std::vector<std::int64_t>{0, 3, 4, 1, 5, 2}
                                                      : std::vector<std::int64_t>{0, 1, 4, 2, 5, 3};
  const TensorId split = gradient.reshaped(gradient.of_output(), apart);
  gradient.give(0, gradient.reshaped(gradient.transposed(split, order), source));
}

}  // namespace

const Operator& operator_SpaceToDepth() {
  static const Operator kOperator{
      .name = "SpaceToDepth",
      .attributes = {"blocksize", "mode"},
      .since_opset = 1,
      .infer = infer_space_to_depth,
      .host = {.origins = origins_of_space_to_depth},
      .lower = lower_space_to_depth,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_space_to_depth,
  };
  return kOperator;
}

}  // namespace morton::ops
