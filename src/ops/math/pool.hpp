// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/planes.hpp"
#include "ops/math/window.hpp"

namespace morton::ops {

/// What the pools share.

/// The windows of a pool; besides what `window_of` checks, every window holds part of the image.
[[nodiscard]] Window pool_window(const NodeView& node);

/// The result of a pool over this image, as its tensor.
[[nodiscard]] Shape pool_shape(const ImageShape& image, const Window& window);

[[nodiscard]] std::vector<TensorType> infer_pool(const NodeView& node);

/// The problem, lacking what only some pools have, for output `output` of the node.
[[nodiscard]] BoundProblem lower_pool(const NodeView& node, Family family, std::size_t output = 0);

/// A tensor of `image` (N C H W): each element is the sum of those elements of `value` (N C OH OW)
/// in whose windows it lies.
[[nodiscard]] TensorId spread_over_windows(Gradient& gradient, TensorId value, const Window& window,
                                           const Shape& image);

/// Calls `visit(plane, oh, ow)` for every element of the result in row-major order, `plane` being
/// the index of the plane's first element in the source, and stores what it returns.
template <typename Visit>
[[nodiscard]] ReferenceTensor reference_pool(const ImageShape& image, const Window& window,
                                             const Visit& visit) {
  const Shape& shape = image.shape;
  const Shape extents{shape[0], shape[1], window.output[0], window.output[1]};
  return reference_planes(image, extents,
                          [&](std::int64_t plane, std::int64_t oh, std::int64_t ow) {
                            return visit(plane * shape[2] * shape[3], oh, ow);
                          });
}

}  // namespace morton::ops
