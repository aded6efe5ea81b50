// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/window.hpp"

namespace morton::ops {

/// Convolutions and pools of three directions and more (N x C x D x H x W) are composed of those of
/// fewer: the first direction, the depth, is taken off.

/// How a window lies along one direction.
struct DepthWindow {
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t before = 0;  ///< padding; negative where elements are cut
  std::int64_t after = 0;
  std::int64_t output = 0;  ///< how many windows there are
  /// The window is a single element, and there is one for each.
  [[nodiscard]] bool is_trivial() const {
    return kernel == 1 && stride == 1 && before == 0 && after == 0;
  }
};

/// Throws ModelError where an attribute that has a number for each direction has another count.
void check_directions(const NodeView& node, std::size_t directions);

/// The node, its attributes cut to `count` directions from `first` on, of `directions` in all.
[[nodiscard]] Node with_directions(const NodeView& node, std::size_t first, std::size_t count,
                                   std::size_t directions);

/// The windows of a Conv, one for each direction of this kernel; throws as `window_of`.
[[nodiscard]] std::vector<DepthWindow> depth_windows_of(const Expansion& expansion,
                                                        const Shape& image, const Shape& kernel);

/// The attributes of a convolution or a pool with these windows.
[[nodiscard]] GraphWriter::Attributes attributes_of(const std::vector<DepthWindow>& windows);

/// Of `value`, N x C x D x (others), what lies in each window along D: one image for each window,
/// (N * output) x (C * kernel) x (others).
[[nodiscard]] TensorId depth_slices(GraphWriter& writer, TensorId value, const DepthWindow& window);

/// The reverse: the sums of all elements of `value`, (N * output) x (C * kernel) x (others), that
/// lie at the same depth. The result is N x C x `depth` x (others), N being `batch`.
[[nodiscard]] TensorId fold_slices(GraphWriter& writer, TensorId value, const DepthWindow& window,
                                   std::int64_t batch, std::int64_t depth);

}  // namespace morton::ops
