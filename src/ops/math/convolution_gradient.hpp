// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/window.hpp"

namespace morton::ops {

/// What the gradients of Conv and ConvTranspose share.

/// A convolution as the gradient of its filters sees it: each window over `image` gave an element
/// of `results`. Of a transposed one, the image that it made is `image` here, and the one that it
/// read `results`.
struct Scan {
  TensorId image = kNoTensor;    ///< of image_shape
  TensorId results = kNoTensor;  ///< of results_shape
  Shape image_shape;             ///< N G*I H W
  Shape results_shape;           ///< N O OH OW
  Window window;
  std::int64_t groups = 1;
};

/// As attributes are written.
[[nodiscard]] std::vector<std::int64_t> list_of(const Window::Pair& pair);

/// The padding of the image with which all windows lie in it. What no window reaches is left over
/// where the padding behind would be negative.
[[nodiscard]] std::vector<std::int64_t> pads_of(const Scan& scan);

/// The first elements of `value`, in each dimension as many as `kept` says.
[[nodiscard]] TensorId cut_to(Gradient& gradient, TensorId value, const Shape& kept);

/// The gradient of the filters, [O, I, KH, KW]: a convolution whose images are the channels, whose
/// channels are the images and whose filters are `results`; stride and dilation change places.
[[nodiscard]] TensorId gradient_of_filters(Gradient& gradient, const Scan& scan);

}  // namespace morton::ops
