// SPDX-License-Identifier: Apache-2.0
#include "ops/signals/volume_blocks.hpp"

namespace morton::ops {

bool is_side_by_side(const NodeView& node, const Shape& kernel) {
  const std::vector<std::int64_t> none(2 * kernel.size(), 0);
  const std::vector<std::int64_t> ones(kernel.size(), 1);
  return kernel.size() <= 3 && node.integer("group", 1) == 1 && !node.has("output_shape") &&
         node.text("auto_pad", "NOTSET") == "NOTSET" && node.integers("strides", ones) == kernel &&
         node.integers("dilations", ones) == ones && node.integers("pads", none) == none &&
         node.integers("output_padding", {}) ==
             std::vector<std::int64_t>(node.integers("output_padding", {}).size(), 0);
}

TensorId blocks_of(Expansion& expansion, const Shape& image, const Shape& weights) {
  const Shape kernel(weights.begin() + 2, weights.end());
  const Shape extents(image.begin() + 2, image.end());
  const std::int64_t places = element_count(extents);
  const std::int64_t results = weights[1] * element_count(kernel);
  const TensorId filters =
      expansion.transposed(expansion.reshaped(expansion.input(1), {weights[0], results}), {1, 0});
  const TensorId columns = expansion.reshaped(expansion.input(0), {image[0], image[1], places});
  Shape apart{image[0], weights[1]};
  apart.insert(apart.end(), kernel.begin(), kernel.end());
  apart.insert(apart.end(), extents.begin(), extents.end());
  std::vector<std::int64_t> order{0, 1};
  Shape result{image[0], weights[1]};
  const auto count = static_cast<std::int64_t>(kernel.size());
  for (std::int64_t d = 0; d < count; ++d) {
    order.push_back(2 + count + d);
    order.push_back(2 + d);
    const auto at = static_cast<std::size_t>(d);
    result.push_back(kernel[at] * extents[at]);
  }
  const TensorId blocks = expansion.reshaped(expansion.add("MatMul", {filters, columns}), apart);
  return expansion.reshaped(expansion.transposed(blocks, order), result);
}

}  // namespace morton::ops
