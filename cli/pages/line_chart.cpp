// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pages/charts.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

constexpr double kLinesWidth = 720.0;
constexpr double kLinesHeight = 300.0;     ///< of the box
constexpr std::size_t kMostMarkers = 200;  ///< of a curve; more hide it

struct LineMaps {
  AxisMap x, y;
  [[nodiscard]] bool has(const LineChart::Point& point) const {
    return x.has(point.x) && y.has(point.y);
  }
};

LegendEntry::What legend_of(LineChart::Style style) {
  using What = LegendEntry::What;
  return style == LineChart::Style::curve    ? What::curve
         : style == LineChart::Style::points ? What::points
                                             : What::curve_and_points;
}

std::string point_title(const LineChart& chart, const LineChart::Series& series,
                        const LineChart::Point& point) {
  if (!point.title.empty()) return point.title;
  return fmt::format("{}: {} {:.4g}, {} {:.4g}", series.name, chart.x.label, point.x, chart.y.label,
                     point.y);
}

/// The curve, in pieces where a point has no place.
void draw_curve(Pen& pen, const LineChart::Series& series, const LineMaps& maps, int number) {
  std::vector<std::pair<double, double>> piece;
  for (const LineChart::Point& point : series.points) {
    if (maps.has(point)) {
      piece.emplace_back(maps.x.place(point.x), maps.y.place(point.y));
      continue;
    }
    pen.curve(piece, number, series.name);
    piece.clear();
  }
  pen.curve(piece, number, series.name);
}

/// Returns how many points have no place.
std::size_t draw_series(Pen& pen, const LineChart& chart, const LineMaps& maps, int number) {
  const LineChart::Series& series = chart.series[static_cast<std::size_t>(number)];
  if (series.style != LineChart::Style::points) draw_curve(pen, series, maps, number);
  const bool alone = series.points.size() == 1;
  const bool markers =
      series.style == LineChart::Style::points || alone ||
      (series.style == LineChart::Style::curve_and_points && series.points.size() <= kMostMarkers);
  std::size_t left_out = 0;
  for (const LineChart::Point& point : series.points) {
    if (!maps.has(point)) {
      ++left_out;
      continue;
    }
    const double x = maps.x.place(point.x);
    const double y = maps.y.place(point.y);
    if (markers) pen.marker(x, y, number, point_title(chart, series, point));
    if (!point.label.empty()) pen.text("tick", x + 7.0, y - 5.0, point.label);
  }
  return left_out;
}

}  // namespace

Drawing draw(const LineChart& chart) {
  Pen pen;
  PlotBox box{64.0, kLinesWidth - 16.0, 0.0, 0.0};
  std::vector<LegendEntry> entries;
  std::vector<double> xs;
  std::vector<double> ys;
  for (const LineChart::Series& series : chart.series) {
    entries.push_back({legend_of(series.style), series.name});
    for (const LineChart::Point& point : series.points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
  }
  box.top = legend(pen, entries, box.left, box.right, 2.0) + 6.0;
  box.bottom = box.top + kLinesHeight;
  const LineMaps maps{AxisMap(chart.x, xs, box.left, box.right),
                      AxisMap(chart.y, ys, box.bottom, box.top)};
  draw_axes(pen, box, chart.x, maps.x, chart.y, maps.y);
  std::size_t left_out = 0;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    left_out += draw_series(pen, chart, maps, static_cast<int>(s));
  }
  if (left_out > 0) {
    pen.text(
        "tick end", box.right, box.bottom + 36.0,
        fmt::format("{} {} no place here", left_out, left_out == 1 ? "point has" : "points have"));
  }
  return std::move(pen).drawing(kLinesWidth, box.bottom + 46.0);
}

}  // namespace morton::cli::pages
