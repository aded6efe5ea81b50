// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// grid_sample: dst[N,C,P] = src[N,C,D,H,W] at the place grid[N,P,R], where R = 1 counts along W,
/// R = 2 along W and H, and R = 3 along W, H and D; the other extents are 1. A place runs from -1
/// to 1 over the image. Elements between places are interpolated.
struct GridSampleStructure {
  /// TAPS: elements along a dimension that take part.
  enum class Taps : std::uint8_t { nearest = 1, linear = 2, cubic = 4 };
  /// PADDING: what lies outside is 0, the element at the border, or a mirror's image.
  enum class Outside : std::uint8_t { zeros = 0, border = 1, reflection = 2 };
  /// CORNERS: -1 and 1 are the centres of the outer elements, or their outer edges.
  enum class Ends : std::uint8_t { edges = 0, centres = 1 };
  std::int64_t dimensions = 2;  ///< R
  Taps taps = Taps::linear;
  Outside outside = Outside::zeros;
  Ends ends = Ends::edges;

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("R", self.dimensions);
    field("TAPS", self.taps);
    field("PADDING", self.outside);
    field("CORNERS", self.ends);
  }

  /// Keys' coefficient of the cubic, which ONNX fixes here.
  static constexpr double kCubic = -0.75;
  /// Beyond by so much all that takes part lies outside.
  static constexpr double kBeyond = 4.0;
  /// The least position that lies inside; the greatest is as far from the last element.
  [[nodiscard]] double least() const { return ends == Ends::centres ? 0.0 : -0.5; }

  /// Where a place of the grid lies along an extent, in elements; before what is outside is moved.
  [[nodiscard]] double position(double place, std::int64_t extent) const;
  /// The position inside that a position outside stands for; those inside stay.
  [[nodiscard]] double moved_inside(double position, std::int64_t extent) const;
  /// The first element that takes part at this position, and each one's weight.
  [[nodiscard]] std::int64_t first_tap(double position) const;
  [[nodiscard]] double weight(double position, std::int64_t tap) const;
  /// The element that stands for `at`, which may lie outside; -1 for zero.
  [[nodiscard]] std::int64_t element(std::int64_t at, std::int64_t extent) const;
};

}  // namespace morton::problems
