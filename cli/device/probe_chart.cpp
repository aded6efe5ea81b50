// SPDX-License-Identifier: Apache-2.0
#include "device/probe_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/output.hpp"

namespace morton::cli {
namespace {

constexpr int kColours = 8;
constexpr double kLeft = 70.0, kPlot = 520.0, kLegend = 170.0;
constexpr double kHead = 40.0, kPlotHeight = 300.0, kFoot = 50.0;
constexpr double kBarNames = 130.0, kBar = 18.0;

constexpr const char* kChartStyle = R"(<style>
svg { background: #fff; color: #222; font: 11px sans-serif }
text { fill: currentColor; text-anchor: middle; dominant-baseline: central }
text.begin { text-anchor: start } text.end { text-anchor: end } text.title { font-weight: bold }
.axis { fill: none; stroke: currentColor } .grid { stroke: currentColor; stroke-opacity: .15 }
polyline.line { fill: none; stroke-width: 1.8 }
.s0 { stroke: #1f77b4 } .s1 { stroke: #d62728 } .s2 { stroke: #2ca02c } .s3 { stroke: #9467bd }
.s4 { stroke: #c07000 } .s5 { stroke: #0097a7 } .s6 { stroke: #c2418f } .s7 { stroke: #7f7f7f }
.f0 { fill: #1f77b4 } .f1 { fill: #d62728 } .f2 { fill: #2ca02c } .f3 { fill: #9467bd }
.f4 { fill: #c07000 } .f5 { fill: #0097a7 } .f6 { fill: #c2418f } .f7 { fill: #7f7f7f }
@media (prefers-color-scheme: dark) { svg { background: #181818; color: #ddd } }
</style>
)";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return result;
}

/// "64 KiB" where the number is bytes; else as few digits as it takes.
std::string tick_text(double value, Chart::Axis::Unit unit) {
  if (unit == Chart::Axis::Unit::number) return fmt::format("{:g}", value);
  double rest = value;
  const char* names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t at = 0;
  for (; rest >= 1024.0 && at + 1 < std::size(names); ++at) rest /= 1024.0;
  return fmt::format("{:g} {}", rest, names[at]);
}

/// A logarithmic axis over some pixels.
struct Scale {
  double least = 0.0, most = 0.0;  ///< logarithms to base 2
  double from = 0.0, to = 0.0;     ///< pixels
  [[nodiscard]] double at(double value) const {
    const double share = (std::log2(value) - least) / (most - least);
    return from + share * (to - from);
  }
};

Scale scale_of(const Chart& chart, std::size_t dimension, double from, double to) {
  double least = 1e300;
  double most = 0.0;
  for (const Chart::Line& line : chart.lines) {
    for (const auto& point : line.points) {
      if (point[dimension] <= 0.0) continue;
      least = std::min(least, point[dimension]);
      most = std::max(most, point[dimension]);
    }
  }
  if (most <= 0.0) least = most = 1.0;
  const double low = std::floor(std::log2(least));
  return {low, std::max(low + 1.0, std::ceil(std::log2(most))), from, to};
}

/// Powers of two, no more than ten or so.
std::vector<double> ticks_of(const Scale& scale) {
  const double step = std::max(1.0, std::ceil((scale.most - scale.least) / 10.0));
  std::vector<double> ticks;
  for (double at = scale.least; at <= scale.most; at += step) ticks.push_back(std::exp2(at));
  return ticks;
}

std::string axes_of(const Chart& chart, const Scale& x, const Scale& y) {
  std::string svg;
  for (const double tick : ticks_of(x)) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\">{4}</text>\n",
        x.at(tick), y.from, y.to, y.from + 14.0, tick_text(tick, chart.x.unit));
  }
  for (const double tick : ticks_of(y)) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\"/>"
        "<text class=\"end\" x=\"{3:.1f}\" y=\"{1:.1f}\">{4}</text>\n",
        x.from, y.at(tick), x.to, x.from - 6.0, tick_text(tick, chart.y.unit));
  }
  svg += fmt::format(
      "<rect class=\"axis\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
      x.from, y.to, x.to - x.from, y.from - y.to);
  const double middle = (y.from + y.to) / 2.0;
  return svg + fmt::format(
                   "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text><text transform=\"rotate(-90 14 {})\" "
                   "x=\"14\" y=\"{}\">{}</text>\n",
                   (x.from + x.to) / 2.0, y.from + 34.0, escaped(chart.x.label), middle, middle,
                   escaped(chart.y.label));
}

std::string chart_body(const Chart& chart, double top) {
  const Scale x = scale_of(chart, 0, kLeft, kLeft + kPlot);
  const Scale y = scale_of(chart, 1, top + kHead + kPlotHeight, top + kHead);
  std::string svg = fmt::format("<text class=\"title begin\" x=\"{}\" y=\"{}\">{}</text>\n", kLeft,
                                top + kHead / 2.0, escaped(chart.title)) +
                    axes_of(chart, x, y);
  int number = 0;
  for (const Chart::Line& line : chart.lines) {
    std::string points;
    for (const auto& [px, py] : line.points) {
      if (px > 0.0 && py > 0.0) points += fmt::format("{:.1f},{:.1f} ", x.at(px), y.at(py));
    }
    const int colour = number % kColours;
    const double row = top + kHead + 8.0 + 16.0 * number;
    svg += fmt::format(
        "<polyline class=\"line s{0}\" points=\"{1}\"><title>{2}</title></polyline>\n"
        "<line class=\"s{0}\" stroke-width=\"3\" x1=\"{3}\" y1=\"{4}\" x2=\"{5}\" y2=\"{4}\"/>"
        "<text class=\"begin\" x=\"{6}\" y=\"{4}\">{2}</text>\n",
        colour, points, escaped(line.name), kLeft + kPlot + 14.0, row, kLeft + kPlot + 34.0,
        kLeft + kPlot + 40.0);
    ++number;
  }
  return svg;
}

}  // namespace

std::string svg_of(const Canvas& canvas, const std::string& body) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n",
             canvas.width, canvas.height, escaped(canvas.title)) +
         kChartStyle + body + "</svg>\n";
}

std::string picture_of(const std::string& title, const std::vector<Chart>& charts) {
  constexpr double kHeight = kHead + kPlotHeight + kFoot;
  std::string body;
  double top = 0.0;
  for (const Chart& chart : charts) {
    body += chart_body(chart, top);
    top += kHeight;
  }
  return svg_of({kLeft + kPlot + kLegend, top, title}, body);
}

std::string picture_of(const std::string& title, const std::vector<BarChart>& charts) {
  std::string body;
  double top = 0.0;
  for (const BarChart& chart : charts) {
    double most = 0.0;
    for (const BarChart::Bar& bar : chart.bars) most = std::max(most, bar.value);
    body += fmt::format("<text class=\"title begin\" x=\"10\" y=\"{}\">{}, {}</text>\n",
                        top + kHead / 2.0, escaped(chart.title), escaped(chart.unit));
    top += kHead;
    for (const BarChart::Bar& bar : chart.bars) {
      const double length = most > 0.0 ? kPlot * bar.value / most : 0.0;
      body += fmt::format(
          "<text class=\"end\" x=\"{0}\" y=\"{1}\">{2}</text><rect class=\"f0\" x=\"{3}\" "
          "y=\"{4}\" width=\"{5:.1f}\" height=\"{6}\"/><text class=\"begin\" x=\"{7:.1f}\" "
          "y=\"{1}\">{8:.1f}</text>\n",
          kBarNames - 6.0, top + kBar / 2.0, escaped(bar.name), kBarNames, top + 2.0, length,
          kBar - 4.0, kBarNames + length + 6.0, bar.value);
      top += kBar;
    }
    top += kFoot / 2.0;
  }
  return svg_of({kBarNames + kPlot + 80.0, top, title}, body);
}

}  // namespace morton::cli
