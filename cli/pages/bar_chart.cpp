// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pages/charts.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

constexpr double kBarsWidth = 720.0;
constexpr double kBarHeight = 15.0;
constexpr double kBarGap = 8.0;
constexpr std::size_t kBarName = 30;  ///< characters

/// The room that names take on one side, at most so much.
double name_room(const BarChart& chart) {
  double room = 0.0;
  for (const BarChart::Bar& bar : chart.bars) {
    room = std::max(room, text_width(shortened(bar.name, kBarName)));
  }
  return room + 10.0;
}

double note_room(const BarChart& chart) {
  double room = 0.0;
  for (const BarChart::Bar& bar : chart.bars) room = std::max(room, text_width(bar.note));
  return std::min(room + 14.0, 260.0);
}

/// Ends of all bars, and 0.
std::vector<double> bar_ends(const BarChart& chart) {
  std::vector<double> ends;
  if (chart.axis.scale == Axis::Scale::linear) ends.push_back(0.0);
  for (const BarChart::Bar& bar : chart.bars) {
    double sum = 0.0;
    for (const double value : bar.values) {
      if (std::isfinite(value)) sum += value;
      ends.push_back(chart.mode == BarChart::Mode::stacked ? sum : value);
    }
  }
  return ends;
}

std::string bar_title(const BarChart& chart, const BarChart::Bar& bar, std::size_t series) {
  const std::string of = series < chart.series.size() ? ", " + chart.series[series] : "";
  return fmt::format("{}{}: {:.4g} ({})", bar.name, of, bar.values[series], chart.axis.label);
}

/// One row's bars from `y` down; returns how far they reach to the right.
double draw_bars(Pen& pen, const BarChart& chart, const BarChart::Bar& bar, const AxisMap& map,
                 double y) {
  const double zero = chart.axis.scale == Axis::Scale::log ? map.place(map.low()) : map.place(0.0);
  const bool stacked = chart.mode == BarChart::Mode::stacked;
  double sum = 0.0;
  double end = zero;
  for (std::size_t s = 0; s < bar.values.size(); ++s) {
    const double top = stacked ? y : y + kBarHeight * static_cast<double>(s);
    const double value = bar.values[s];
    if (!map.has(value) || value < 0.0) {
      if (!stacked) pen.text("tick", zero + 4.0, top + 12.0, "n/a");
      continue;
    }
    const double from = stacked && sum > 0.0 ? map.place(sum) : zero;
    sum = stacked ? sum + value : value;
    const double to = map.place(sum);
    pen.bar(from, top, to - from, kBarHeight - 1.0, static_cast<int>(s), bar_title(chart, bar, s));
    end = std::max(end, to);
  }
  return end;
}

}  // namespace

Drawing draw(const BarChart& chart) {
  Pen pen;
  std::size_t deepest = 1;
  for (const BarChart::Bar& bar : chart.bars) deepest = std::max(deepest, bar.values.size());
  const double lines = chart.mode == BarChart::Mode::stacked ? 1.0 : static_cast<double>(deepest);
  const double row = lines * kBarHeight + kBarGap;
  PlotBox box{name_room(chart), kBarsWidth - note_room(chart), 0.0, 0.0};
  box.top = legend(pen, chart.series, box.left, kBarsWidth, 2.0) + 4.0;
  box.bottom = box.top + row * static_cast<double>(chart.bars.size());
  const AxisMap map(chart.axis, bar_ends(chart), box.left, box.right);
  draw_axis(pen, box, chart.axis, map);
  double y = box.top + kBarGap / 2.0;
  for (const BarChart::Bar& bar : chart.bars) {
    const double middle = y + lines * kBarHeight / 2.0 + 4.0;
    pen.text("name end", box.left - 6.0, middle, shortened(bar.name, kBarName));
    const double end = draw_bars(pen, chart, bar, map, y);
    pen.text("tick", end + 6.0, middle, bar.note);
    y += row;
  }
  return std::move(pen).drawing(kBarsWidth, box.bottom + 44.0);
}

}  // namespace morton::cli::pages
