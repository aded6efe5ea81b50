// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "pages/charts.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

constexpr double kTimelineWidth = 720.0;
constexpr double kLane = 34.0;
constexpr double kSpanHeight = 24.0;
constexpr std::size_t kLaneName = 22;  ///< characters

}  // namespace

Drawing draw(const Timeline& timeline) {
  Pen pen;
  double names = 0.0;
  std::vector<double> times{0.0};
  for (const Timeline::Lane& lane : timeline.lanes) {
    names = std::max(names, text_width(shortened(lane.name, kLaneName)));
    for (const Timeline::Span& span : lane.spans) {
      times.push_back(span.start);
      times.push_back(span.end);
    }
  }
  const PlotBox box{names + 12.0, kTimelineWidth - 16.0, 6.0,
                    6.0 + kLane * static_cast<double>(timeline.lanes.size())};
  const AxisMap map(timeline.axis, times, box.left, box.right);
  draw_axis(pen, box, timeline.axis, map);
  double y = box.top + (kLane - kSpanHeight) / 2.0;
  for (const Timeline::Lane& lane : timeline.lanes) {
    pen.text("name end", box.left - 6.0, y + kSpanHeight / 2.0 + 4.0,
             shortened(lane.name, kLaneName));
    for (const Timeline::Span& span : lane.spans) {
      if (!map.has(span.start) || !map.has(span.end)) continue;
      const double from = map.place(span.start);
      const double width = std::max(map.place(span.end) - from, 0.5);
      const std::string title =
          span.title.empty() ? fmt::format("{}: from {:.4g}, for {:.4g} ({})", span.name,
                                           span.start, span.end - span.start, timeline.axis.label)
                             : span.title;
      // Neighbours are told apart by a gap.
      pen.bar(from, y, width > 3.0 ? width - 1.0 : width, kSpanHeight, span.series, title);
      const auto fits = static_cast<std::size_t>(std::max(0.0, (width - 8.0) / text_width("m")));
      if (fits >= 3) {
        pen.text("tick on", from + 4.0, y + kSpanHeight / 2.0 + 4.0, shortened(span.name, fits));
      }
    }
    y += kLane;
  }
  return std::move(pen).drawing(kTimelineWidth, box.bottom + 44.0);
}

}  // namespace morton::cli::pages
