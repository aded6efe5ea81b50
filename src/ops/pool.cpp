// SPDX-License-Identifier: Apache-2.0
#include "ops/pool.hpp"

namespace morton {

Window pool_window(const NodeView& node) {
  const Shape image = node.input(0).shape;
  require_image(node, image);
  if (!node.has("kernel_shape")) node.fail("the attribute 'kernel_shape' is missing");
  const Window window = window_of(node, image, pair_of(node, "kernel_shape", {1, 1}));
  for (std::size_t d = 0; d < 2; ++d) {
    // With pads below the reach and an image no smaller than the gaps, no window misses the image.
    if (window.before[d] >= window.reach(d) || window.after[d] >= window.reach(d)) {
      node.fail(
          "pads " + std::to_string(window.before[d]) + " and " + std::to_string(window.after[d]) +
          " must be smaller than the window, which reaches " + std::to_string(window.reach(d)));
    }
    if (window.kernel[d] > 1 && window.dilation[d] > image[d + 2]) {
      node.unsupported("dilation " + std::to_string(window.dilation[d]) +
                       " is larger than the image, " + to_string(image));
    }
  }
  return window;
}

std::vector<TensorType> infer_pool(const NodeView& node) {
  const Window window = pool_window(node);
  const TensorType image = node.input(0);
  return {{image.dtype, {image.shape[0], image.shape[1], window.output[0], window.output[1]}}};
}

BoundProblem lower_pool(const NodeView& node, const std::string& family) {
  const Window window = pool_window(node);
  const Shape image = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = family;
  bound.problem.extents = {{"N", image[0]}, {"C", image[1]},          {"H", image[2]},
                           {"W", image[3]}, {"OH", window.output[0]}, {"OW", window.output[1]}};
  bound.problem.structure = window.structure();
  bound.operands["src"] = {node.input_id(0), View::identity({"N", "C", "H", "W"})};
  bound.operands["dst"] = {node.output_id(), View::identity({"N", "C", "OH", "OW"})};
  return bound;
}

}  // namespace morton
