// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace morton::cli {

/// Pixels, and what the picture shows, in words.
struct Canvas {
  double width = 0.0, height = 0.0;
  std::string title;
};

/// A whole SVG file around `body`; light and dark follow the viewer. Texts are centred, but for
/// classes `begin` and `end`; classes `s0` to `s7` are colours of lines and `f0` to `f7` of areas.
[[nodiscard]] std::string svg_of(const Canvas& canvas, const std::string& body);

/// Lines over two axes, both logarithmic.
struct Chart {
  struct Axis {
    std::string label;
    enum class Unit : std::uint8_t { number, bytes } unit = Unit::number;
  };
  struct Line {
    std::string name;
    std::vector<std::array<double, 2>> points;  ///< what is not above 0 is left out
  };
  std::string title;
  Axis x, y;
  std::vector<Line> lines;
};

/// The charts below each other.
[[nodiscard]] std::string picture_of(const std::string& title, const std::vector<Chart>& charts);

/// Bars from 0, with their values.
struct BarChart {
  struct Bar {
    std::string name;
    double value = 0.0;
  };
  std::string title, unit;
  std::vector<Bar> bars;
};
[[nodiscard]] std::string picture_of(const std::string& title, const std::vector<BarChart>& charts);

}  // namespace morton::cli
