// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/algebra/view.hpp"
#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"
#include "problems/window.hpp"

namespace morton::ops {

/// An image N x C x H x W, or a line N x C x W, which is computed as an image of one row.
struct ImageShape {
  Shape shape;        ///< N C H W
  bool line = false;  ///< the tensor has no H
  /// `extents`, four of them, as a tensor of this kind has them: without the row of a line.
  [[nodiscard]] Shape own(const Shape& extents) const;
  /// The operand of these four dimensions on such a tensor.
  [[nodiscard]] View view(const std::vector<std::string>& dimensions) const;
};

/// `shape`, of an image or of a filter, which has as many dimensions. Throws ModelError below three
/// dimensions, UnsupportedError above four.
[[nodiscard]] ImageShape image_of(const NodeView& node, const Shape& shape);

/// Whether input 0 has three directions or more (N x C x D x H x W).
[[nodiscard]] bool is_volume(const NodeView& node);

/// What ONNX says of how an image is scanned: attributes kernel_shape, strides, dilations, pads,
/// auto_pad and ceil_mode, made plain.
struct Window : SlidingWindow {
  Pair after{0, 0};   ///< padding below and to the right
  Pair output{0, 0};  ///< how many windows there are
};

/// Throws unless `image` has four dimensions: UnsupportedError where ONNX would allow it.
void require_image(const NodeView& node, const Shape& image);

/// The attributes of a window but for auto_pad: kernel, stride, dilation and the pads as they stand
/// (0 under auto_pad), `output` left open. Throws ModelError for numbers that make no sense.
[[nodiscard]] Window scan_of(const NodeView& node, const ImageShape& image,
                             const Window::Pair& kernel);

/// The windows of a node with input `image` and the given filter size. Throws ModelError for
/// attributes that contradict each other or the image.
[[nodiscard]] Window window_of(const NodeView& node, const ImageShape& image,
                               const Window::Pair& kernel);

/// An attribute with one number for each direction of the image.
[[nodiscard]] Window::Pair pair_of(const NodeView& node, const ImageShape& image,
                                   std::string_view attribute, const Window::Pair& otherwise);

}  // namespace morton::ops
