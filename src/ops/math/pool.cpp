// SPDX-License-Identifier: Apache-2.0
#include "ops/math/pool.hpp"

#include <algorithm>

#include "ops/core/expansion.hpp"

namespace morton::ops {

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
  if (is_volume(node)) return infer_composed(node);
  const TensorType source = node.input(0);
  return {{source.dtype, pool_shape(image_of(node, source.shape), pool_window(node))}};
}

BoundProblem lower_pool(const NodeView& node, Family family, std::size_t output) {
  const Window window = pool_window(node);
  const ImageShape image = image_of(node, node.input(0).shape);
  const Shape& shape = image.shape;
  BoundProblem bound;
  bound.problem.family = family;
  bound.problem.extents = {{"N", shape[0]}, {"C", shape[1]},          {"H", shape[2]},
                           {"W", shape[3]}, {"OH", window.output[0]}, {"OW", window.output[1]}};
  bound.problem.structure = numbers_of<SlidingWindow>(window);
  bound.operands["src"] = {node.input_id(0), image.view({"N", "C", "H", "W"})};
  bound.operands["dst"] = {node.output_id(output), image.view({"N", "C", "OH", "OW"})};
  return bound;
}

TensorId spread_over_windows(Gradient& gradient, TensorId value, const Window& window,
                             const Shape& image) {
  bool side_by_side = true;
  std::vector<std::int64_t> needed(4);
  for (std::size_t d = 0; d < 2; ++d) {
    side_by_side = side_by_side && window.stride[d] == window.kernel[d] &&
                   window.dilation[d] == 1 && window.before[d] == 0 &&
                   window.output[d] * window.stride[d] <= image[d + 2];
    // All that the windows cover; of the last ones some may lie behind the image.
    needed[d + 2] = (window.output[d] - 1) * window.stride[d] + window.reach(d);
  }
  const auto& [kh, kw] = window.kernel;
  const auto& [oh, ow] = window.output;
  if (side_by_side) {
    TensorId wide = gradient.reshaped(value, {image[0], image[1], oh, 1, ow, 1});
    wide = gradient.expanded(wide, {image[0], image[1], oh, kh, ow, kw});
    wide = gradient.reshaped(wide, {image[0], image[1], oh * kh, ow * kw});
    if (gradient.shape_of(wide) == image) return wide;
    return gradient.padded(wide, {0, 0, 0, 0}, {0, 0, image[2] - oh * kh, image[3] - ow * kw});
  }
  Tensor ones = Tensor::allocate(gradient.type_of(value), {image[1], 1, kh, kw});
  for (std::int64_t i = 0; i < ones.size(); ++i) ones.set(i, 1.0);
  const TensorId whole = gradient.add(
      "ConvTranspose", {value, gradient.constant(ones)},
      {{"kernel_shape", std::vector<std::int64_t>{kh, kw}},
       {"strides", std::vector<std::int64_t>{window.stride[0], window.stride[1]}},
       {"dilations", std::vector<std::int64_t>{window.dilation[0], window.dilation[1]}},
       {"group", image[1]}});
  // From the padded image to the image: cut before, and cut or filled up behind.
  std::vector<std::int64_t> starts{0, 0, window.before[0], window.before[1]};
  std::vector<std::int64_t> ends{image[0], image[1]};
  std::vector<std::int64_t> missing(4, 0);
  for (std::size_t d = 2; d < 4; ++d) {
    ends.push_back(std::min(needed[d], starts[d] + image[d]));
    missing[d] = starts[d] + image[d] - ends[d];
  }
  const TensorId cut = gradient.sliced(whole, starts, ends, {1, 1, 1, 1});
  if (gradient.shape_of(cut) == image) return cut;
  return gradient.padded(cut, {0, 0, 0, 0}, missing);
}

}  // namespace morton::ops
