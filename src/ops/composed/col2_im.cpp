// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/composed/writing.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

/// Blocks of an image of any number of dimensions.
struct ImageBlocks {
  Shape image, block, blocks;
  std::vector<std::int64_t> strides, dilations, pads;
  Shape padded;
  std::int64_t channels = 0;
};

ImageBlocks image_blocks(const NodeView& node) {
  ImageBlocks result;
  result.image = node.value_integers(1);
  result.block = node.value_integers(2);
  const std::size_t rank = result.image.size();
  const Shape shape = node.input(0).shape;
  if (rank < 1 || rank + 2 > kMaxRank || result.block.size() != rank || shape.size() != 3) {
    node.fail("blocks of " + to_string(result.block) + " in an image of " +
              to_string(result.image) + " do not fit columns of " + to_string(shape));
  }
  result.strides = numbers_from(node, "strides", rank, 1);
  result.dilations = numbers_from(node, "dilations", rank, 1);
  result.pads = numbers_from(node, "pads", 2 * rank, 0);
  std::int64_t block = 1;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    if (result.image[d] < 1 || result.block[d] < 1) node.fail("its image or its blocks are empty");
    const std::int64_t padded = result.image[d] + result.pads[d] + result.pads[rank + d];
    const std::int64_t reach =
        checked_mul(result.dilations[d], result.block[d] - 1, "a block's reach") + 1;
    result.padded.push_back(padded);
    result.blocks.push_back(reach > padded ? 0 : (padded - reach) / result.strides[d] + 1);
    block = checked_mul(block, result.block[d], "a block");
    count = checked_mul(count, result.blocks[d], "the blocks of an image");
  }
  if (shape[2] != count || shape[1] % block != 0) {
    node.fail("the columns are " + to_string(shape) + ", expected a multiple of " +
              std::to_string(block) + " rows for " + std::to_string(count) + " blocks");
  }
  result.channels = shape[1] / block;
  return result;
}

/// The place in the padded image of each element of each block.
std::vector<std::int64_t> places_of_blocks(const ImageBlocks& blocks) {
  const std::size_t rank = blocks.image.size();
  const std::int64_t elements = element_count(blocks.block);
  const std::int64_t count = element_count(blocks.blocks);
  std::vector<std::int64_t> places;
  for (std::int64_t e = 0; e < elements * count; ++e) {
    std::int64_t within = e / count;
    std::int64_t number = e % count;
    std::int64_t at = 0;
    std::int64_t below = 1;
    for (std::size_t d = rank; d-- > 0;) {
      const std::int64_t own = number % blocks.blocks[d] * blocks.strides[d] +
                               within % blocks.block[d] * blocks.dilations[d];
      at += own * below;
      below *= blocks.padded[d];
      number /= blocks.blocks[d];
      within /= blocks.block[d];
    }
    places.push_back(at);
  }
  return places;
}

std::vector<TensorId> expand_col2im(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const ImageBlocks blocks = image_blocks(node);
  const std::size_t rank = blocks.image.size();
  const std::int64_t batch = node.input(0).shape[0];
  const std::int64_t planes = batch * blocks.channels;
  const std::vector<std::int64_t> places = places_of_blocks(blocks);
  const auto count = static_cast<std::int64_t>(places.size());
  const TensorId added = expansion.add(
      "ScatterRows",
      {zeros(expansion, node.input(0).dtype, {planes, element_count(blocks.padded), 1}),
       expansion.reshaped(expansion.list(places), {1, count}),
       expansion.reshaped(expansion.input(0), {planes, count, 1})},
      {{"reduction", std::string("add")}});
  Shape shape{batch, blocks.channels};
  shape.insert(shape.end(), blocks.padded.begin(), blocks.padded.end());
  const TensorId image = expansion.reshaped(added, shape);
  if (blocks.padded == blocks.image) return {image};
  std::vector<std::int64_t> starts{0, 0};
  std::vector<std::int64_t> ends{batch, blocks.channels};
  for (std::size_t d = 0; d < rank; ++d) {
    starts.push_back(blocks.pads[d]);
    ends.push_back(blocks.pads[d] + blocks.image[d]);
  }
  return {expansion.sliced(image, starts, ends, std::vector<std::int64_t>(rank + 2, 1))};
}

}  // namespace

const Operator& operator_Col2Im() {
  static const Operator kOperator{
      .name = "Col2Im",
      .inputs = {.least = 3, .most = 3, .planned = {1, 2}},
      .attributes = {"dilations", "pads", "strides"},
      .since_opset = 18,
      .expand = expand_col2im,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
