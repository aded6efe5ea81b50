// SPDX-License-Identifier: Apache-2.0
//
// SVG, written mark by mark. Colours come from the page's style sheet (pages/assets.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace morton::cli::pages {

/// A picture without a frame: SVG elements in a box.
struct Drawing {
  double width = 720.0, height = 0.0;
  std::string elements{};
};

/// The whole element, for a page: `title` says what it is, `alternative` what it shows.
[[nodiscard]] std::string svg_of(const Drawing& drawing, const std::string& title,
                                 const std::string& alternative);

/// How many colours, markers and dashes there are; further series begin anew.
inline constexpr int kSeries = 8;

/// Draws. A mark (what stands for data, and not a grid or a label) has a title, which a pointer
/// that rests on it shows.
class Pen {
 public:
  /// A mark: a rectangle in the colour of a series; of opacity 0 to 1.
  void bar(double x, double y, double width, double height, int series, std::string_view title,
           double opacity = 1.0);
  /// A mark: a line through points, in the colour and dash of a series.
  void curve(const std::vector<std::pair<double, double>>& points, int series,
             std::string_view title);
  /// A mark: a point in the colour and shape of a series.
  void marker(double x, double y, int series, std::string_view title);
  /// Not marks: classes are those of the style sheet.
  void line(std::string_view css_class, double x1, double y1, double x2, double y2);
  void text(std::string_view css_class, double x, double y, std::string_view text);
  /// Turned by a quarter, reading upwards.
  void text_upwards(std::string_view css_class, double x, double y, std::string_view text);
  /// Elements as they are.
  void add(std::string_view elements) { elements_ += elements; }

  [[nodiscard]] Drawing drawing(double width, double height) && {
    return {width, height, std::move(elements_)};
  }

 private:
  std::string elements_{};
};

/// A name beside its colour; `what` is how the series is drawn.
struct LegendEntry {
  enum class What : std::uint8_t { bar, curve, points, curve_and_points } what = What::bar;
  std::string name{};
};

/// The entries, one for each series, from `left` to `right`, in rows from `top` down. Returns where
/// the rows end.
double legend(Pen& pen, const std::vector<LegendEntry>& entries, double left, double right,
              double top);
/// Of bars with these names.
double legend(Pen& pen, const std::vector<std::string>& names, double left, double right,
              double top);

}  // namespace morton::cli::pages
