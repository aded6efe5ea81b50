// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "base/rooms.hpp"

namespace morton::problems {

/// A box between two corners, whichever diagonal they end. All numbers are of f32.
struct BoxOfCorners {
  /// `corners` are y, x, y, x. A NaN stands for the other corner's number, which leaves no area.
  explicit BoxOfCorners(const std::array<double, 4>& corners);

  std::array<double, 2> low;   ///< y, x
  std::array<double, 2> high;  ///< y, x
  double area;
};

/// Intersection over union of two boxes, each operation rounded to f32: the two extents of the
/// intersection, their product, area + area - intersection, the quotient. 0 for boxes that share
/// no area.
[[nodiscard]] double intersection_over_union(const BoxOfCorners& a, const BoxOfCorners& b);

}  // namespace morton::problems
