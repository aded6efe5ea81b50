// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// How windows lie on an image, in convolutions and pools: row `k` of window `o` is the image's row
/// o * stride + k * dilation - before, and so the columns. It may lie outside of the image. What
/// lies there counts as 0 in a convolution and is left out in a pool. Index 0 is the vertical
/// direction, 1 the horizontal. How many windows there are is given apart, so padding below and to
/// the right is whatever they reach.
struct SlidingWindow {
  using Pair = std::array<std::int64_t, 2>;
  Pair kernel{1, 1};    ///< KH KW
  Pair stride{1, 1};    ///< SH SW
  Pair dilation{1, 1};  ///< DH DW
  Pair before{0, 0};    ///< PT PL, padding above and to the left

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("KH", self.kernel[0]);
    field("KW", self.kernel[1]);
    field("SH", self.stride[0]);
    field("SW", self.stride[1]);
    field("DH", self.dilation[0]);
    field("DW", self.dilation[1]);
    field("PT", self.before[0]);
    field("PL", self.before[1]);
  }

  /// The image's row (or column) under position `k` of window `o`; may lie outside the image.
  [[nodiscard]] std::int64_t at(std::size_t direction, std::int64_t o, std::int64_t k) const {
    return o * stride[direction] + k * dilation[direction] - before[direction];
  }
  /// Extent of the window with its gaps.
  [[nodiscard]] std::int64_t reach(std::size_t direction) const {
    return (kernel[direction] - 1) * dilation[direction] + 1;
  }

  /// Calls `visit(kh, kw, h, w)` for the elements of window (oh, ow) that lie inside the image,
  /// which are at row h and column w.
  template <typename Visit>
  void for_inside(const Pair& window, const Pair& image, Visit visit) const {
    for (std::int64_t kh = 0; kh < kernel[0]; ++kh) {
      const std::int64_t h = at(0, window[0], kh);
      if (h < 0 || h >= image[0]) continue;
      for (std::int64_t kw = 0; kw < kernel[1]; ++kw) {
        const std::int64_t w = at(1, window[1], kw);
        if (w >= 0 && w < image[1]) visit(kh, kw, h, w);
      }
    }
  }
};

}  // namespace morton::problems
