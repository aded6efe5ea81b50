// SPDX-License-Identifier: Apache-2.0
#include "ops/pool.hpp"

namespace morton {

Window pool_window(const NodeView& node) {
  const ImageShape image = image_of(node, node.input(0).shape);
  if (!node.has("kernel_shape")) node.fail("the attribute 'kernel_shape' is missing");
  const Window window = window_of(node, image, pair_of(node, image, "kernel_shape", {1, 1}));
  for (std::size_t d = 0; d < 2; ++d) {
    // With pads below the reach and an image no smaller than the gaps, no window misses the image.
    if (window.before[d] >= window.reach(d) || window.after[d] >= window.reach(d)) {
      node.fail(
          "pads " + std::to_string(window.before[d]) + " and " + std::to_string(window.after[d]) +
          " must be smaller than the window, which reaches " + std::to_string(window.reach(d)));
    }
    if (window.kernel[d] > 1 && window.dilation[d] > image.shape[d + 2]) {
      node.unsupported("dilation " + std::to_string(window.dilation[d]) +
                       " is larger than the image, " + to_string(image.shape));
    }
  }
  return window;
}

Shape pool_shape(const ImageShape& image, const Window& window) {
  return image.own({image.shape[0], image.shape[1], window.output[0], window.output[1]});
}

std::vector<TensorType> infer_pool(const NodeView& node) {
  const TensorType source = node.input(0);
  return {{source.dtype, pool_shape(image_of(node, source.shape), pool_window(node))}};
}

BoundProblem lower_pool(const NodeView& node, const std::string& family, std::size_t output) {
  const Window window = pool_window(node);
  const ImageShape image = image_of(node, node.input(0).shape);
  const Shape& shape = image.shape;
  BoundProblem bound;
  bound.problem.family = family;
  bound.problem.extents = {{"N", shape[0]}, {"C", shape[1]},          {"H", shape[2]},
                           {"W", shape[3]}, {"OH", window.output[0]}, {"OW", window.output[1]}};
  bound.problem.structure = window.structure();
  bound.operands["src"] = {node.input_id(0), image.view({"N", "C", "H", "W"})};
  bound.operands["dst"] = {node.output_id(output), image.view({"N", "C", "OH", "OW"})};
  return bound;
}

}  // namespace morton
