// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/rooms.hpp"
#include "training/data/augmentation.hpp"

namespace morton::training {

/// Parts of 256 by which a place lies behind a pixel, to the right and below.
struct Between {
  std::int64_t right = 0, below = 0;
};

/// Mixes four pixels: this one, its right neighbour, and the two below. Levels by integers; values
/// by products that are exact in double, so it is the same wherever it is computed.
inline std::uint8_t mixed(const std::array<std::uint8_t, 4>& pixels, const Between& between) {
  constexpr std::int64_t kWhole = 256;
  const std::int64_t above = pixels[0] * (kWhole - between.right) + pixels[1] * between.right;
  const std::int64_t below = pixels[2] * (kWhole - between.right) + pixels[3] * between.right;
  const std::int64_t sum = above * (kWhole - between.below) + below * between.below;
  return static_cast<std::uint8_t>((sum + kWhole * kWhole / 2) / (kWhole * kWhole));
}
inline float mixed(const std::array<float, 4>& pixels, const Between& between) {
  const double right = static_cast<double>(between.right) / 256.0;
  const double below = static_cast<double>(between.below) / 256.0;
  const std::array<double, 4> shares{(1.0 - right) * (1.0 - below), right * (1.0 - below),
                                     (1.0 - right) * below, right * below};
  double sum = 0.0;
  for (std::size_t i = 0; i < pixels.size(); ++i) sum += shares[i] * double{pixels[i]};
  return static_cast<float>(sum);
}

/// One channel of a picture, black around it.
template <typename Element>
struct Plane {
  const Element* pixels = nullptr;
  Extent2d extent;

  [[nodiscard]] Element at(std::int64_t y, std::int64_t x) const {
    if (y < 0 || y >= extent.height || x < 0 || x >= extent.width) return Element{0};
    return pixels[y * extent.width + x];
  }
  /// What is seen between pixels.
  [[nodiscard]] Element at_place(Fixed16 y, Fixed16 x) const {
    const std::int64_t row = y >> 16;
    const std::int64_t column = x >> 16;
    const std::array<Element, 4> around{at(row, column), at(row, column + 1), at(row + 1, column),
                                        at(row + 1, column + 1)};
    return mixed(around, {(x >> 8) & 0xff, (y >> 8) & 0xff});
  }
};

/// What a window of `input` shows of a plane at its row `y` and column `x`.
template <typename Element>
Element seen(const Plane<Element>& plane, const PictureWindow& window, const Extent2d& input,
             std::int64_t y, std::int64_t x) {
  if (window.flip == Flip::horizontal) x = input.width - 1 - x;
  if (window.turn == Turn{}) return plane.at(window.top + y, window.left + x);
  // Twice the way from the window's middle, which may lie between pixels.
  const std::int64_t across = 2 * x - (input.width - 1);
  const std::int64_t down = 2 * y - (input.height - 1);
  const Turn& turn = window.turn;
  const auto place = [](std::int64_t first, std::int64_t extent, Fixed16 twice_away) {
    return ((2 * first + extent - 1) * kFixedOne + twice_away) >> 1;
  };
  return plane.at_place(place(window.top, input.height, turn.yx * across + turn.yy * down),
                        place(window.left, input.width, turn.xx * across + turn.xy * down));
}

}  // namespace morton::training
