// SPDX-License-Identifier: Apache-2.0
#include "ops/math/convolution_gradient.hpp"

#include <algorithm>

namespace morton::ops {
namespace {

/// [N, G*I, H, W] as I images of G*N channels.
TensorId channels_as_images(Gradient& gradient, const Scan& scan) {
  const Shape& shape = scan.image_shape;
  if (scan.groups == 1) return gradient.transposed(scan.image, {1, 0, 2, 3});
  const std::int64_t depth = shape[1] / scan.groups;
  TensorId turned =
      gradient.reshaped(scan.image, {shape[0], scan.groups, depth, shape[2], shape[3]});
  turned = gradient.transposed(turned, {2, 1, 0, 3, 4});
  return gradient.reshaped(turned, {depth, scan.groups * shape[0], shape[2], shape[3]});
}

}  // namespace

std::vector<std::int64_t> list_of(const Window::Pair& pair) { return {pair[0], pair[1]}; }

std::vector<std::int64_t> pads_of(const Scan& scan) {
  const Window& window = scan.window;
  std::vector<std::int64_t> pads(4);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t needed =
        (scan.results_shape[d + 2] - 1) * window.stride[d] + window.reach(d);
    pads[d] = window.before[d];
    pads[d + 2] = std::max<std::int64_t>(0, needed - scan.image_shape[d + 2] - window.before[d]);
  }
  return pads;
}

TensorId cut_to(Gradient& gradient, TensorId value, const Shape& kept) {
  if (gradient.shape_of(value) == kept) return value;
  return gradient.sliced(value, {0, 0, 0, 0}, kept, {1, 1, 1, 1});
}

TensorId gradient_of_filters(Gradient& gradient, const Scan& scan) {
  const Window& window = scan.window;
  const Shape& results = scan.results_shape;
  const TensorId images = channels_as_images(gradient, scan);
  const TensorId filters = gradient.transposed(scan.results, {1, 0, 2, 3});
  const TensorId whole = gradient.add("Conv", {images, filters},
                                      {{"kernel_shape", list_of({results[2], results[3]})},
                                       {"dilations", list_of(window.stride)},
                                       {"strides", list_of(window.dilation)},
                                       {"pads", pads_of(scan)},
                                       {"group", scan.groups}});
  const Shape kept{scan.image_shape[1] / scan.groups, results[1], window.kernel[0],
                   window.kernel[1]};
  return gradient.transposed(cut_to(gradient, whole, kept), {1, 0, 2, 3});
}

}  // namespace morton::ops
