// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "problems/window.hpp"

namespace morton::problems {

/// Pools of images. What of a window lies outside of the image is left out.
///
/// max_pool2d: dst[N,C,OH,OW] = max over the window of src[N,C,H,W].
///
/// average_pool2d: dst[N,C,OH,OW] = sum over the window of src / count, the number of rows times
/// the number of columns of the window that count: with COUNT_PAD 0 those inside the image (0 <=
/// row < H), with COUNT_PAD 1 those inside the padded image (-PT <= row < H + PB). A window may
/// hang over even that, and the overhang never counts.
///
/// lp_pool2d: dst[N,C,OH,OW] = (sum over the window of |src[N,C,H,W]|^P)^(1/P).
///
/// max_pool2d_indices: dst[N,C,OH,OW] = place in src[N,C,H,W] of the element that max_pool2d takes,
/// the first where several are largest. Places are counted row-major over all of src:
/// ((n * C + c) * H + h) * W + w. With COLUMNS 1 a plane is counted down its columns:
/// (n * C + c) * H * W + w * H + h.
///
/// max_pool2d_gradient: dst[N,C,H,W] = sum of the above[N,C,OH,OW] in whose windows src[N,C,H,W] is
/// the element that max_pool2d takes, the first where several are largest.
///
/// The structure of max_pool2d and of its gradient is a SlidingWindow.

/// What an average divides by.
enum class PoolCount : std::uint8_t { inside = 0, padded = 1 };

/// Of average_pool2d.
struct AveragePool2dStructure {
  SlidingWindow window;
  SlidingWindow::Pair after{0, 0};  ///< PB PR, padding below and to the right
  PoolCount count = PoolCount::inside;

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    SlidingWindow::fields(self.window, field);
    field("PB", self.after[0]);
    field("PR", self.after[1]);
    field("COUNT_PAD", self.count);
  }

  /// How many elements window (oh, ow) of an image divides by.
  [[nodiscard]] std::int64_t divisor(const SlidingWindow::Pair& place,
                                     const SlidingWindow::Pair& image) const;
};

/// Of lp_pool2d.
struct LpPool2dStructure {
  SlidingWindow window;
  std::int64_t exponent = 2;  ///< P

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    SlidingWindow::fields(self.window, field);
    field("P", self.exponent);
  }
};

/// Of max_pool2d_indices.
struct MaxPool2dIndicesStructure {
  SlidingWindow window;
  enum class Order : std::uint8_t { rows = 0, columns = 1 } order = Order::rows;

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    SlidingWindow::fields(self.window, field);
    field("COLUMNS", self.order);
  }
};

}  // namespace morton::problems
