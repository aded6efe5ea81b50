// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "pages/charts.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

constexpr double kGraphWidth = 720.0;
constexpr double kStepHeight = 34.0;
constexpr double kStepGap = 14.0;
constexpr double kStepLeft = 120.0;   ///< arcs lie to the left
constexpr double kStepRight = 560.0;  ///< notes lie to the right

double step_top(int step) { return 6.0 + (kStepHeight + kStepGap) * step; }

void draw_edge(Pen& pen, const StepGraph::Edge& edge) {
  const double from = step_top(edge.from) + kStepHeight;
  const double to = step_top(edge.to);
  const int over = edge.to - edge.from;
  std::string path;
  std::string head;
  if (over == 1) {
    const double x = (kStepLeft + kStepRight) / 2.0;
    path = fmt::format("M{:.1f},{:.1f}V{:.1f}", x, from, to);
    head = fmt::format("M{:.1f},{:.1f}l-4,-6h8z", x, to);
  } else {
    // The farther an edge goes, the farther out it runs.
    const double out = kStepLeft - std::min(110.0, 16.0 + 7.0 * over);
    const double begin = from - kStepHeight / 3.0;
    const double end = to + kStepHeight / 3.0;
    path = fmt::format("M{0:.1f},{1:.1f}C{2:.1f},{1:.1f} {2:.1f},{3:.1f} {0:.1f},{3:.1f}",
                       kStepLeft, begin, out, end);
    head = fmt::format("M{:.1f},{:.1f}l-6,-4v8z", kStepLeft, end);
  }
  pen.add(fmt::format(
      "<path class=\"edge\" d=\"{}\"><title>{}</title></path><path class=\"head\" d=\"{}\"/>\n",
      path, escaped(edge.title), head));
}

}  // namespace

Drawing draw(const StepGraph& graph) {
  Pen pen;
  for (const StepGraph::Edge& edge : graph.edges) {
    if (edge.from < edge.to) draw_edge(pen, edge);
  }
  constexpr auto kFits = static_cast<std::size_t>((kStepRight - kStepLeft - 16.0) / 7.4);
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    const StepGraph::Step& step = graph.steps[s];
    const double top = step_top(static_cast<int>(s));
    pen.add(
        fmt::format("<rect class=\"cell solid\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                    "height=\"{:.1f}\"/>\n",
                    kStepLeft, top, kStepRight - kStepLeft, kStepHeight));
    const double share = std::clamp(step.share, 0.0, 1.0);
    pen.bar(kStepLeft, top, kStepRight - kStepLeft, kStepHeight, 0,
            fmt::format("{}: {}, {}", step.name, step.detail, step.note), 0.05 + 0.95 * share);
    const std::string on = share > 0.5 ? " on" : "";
    pen.text("name" + on, kStepLeft + 8.0, top + 14.0, shortened(step.name, kFits));
    pen.text("tick" + on, kStepLeft + 8.0, top + 28.0, shortened(step.detail, kFits));
    pen.text("tick", kStepRight + 8.0, top + 21.0, shortened(step.note, 22));
  }
  return std::move(pen).drawing(kGraphWidth, step_top(static_cast<int>(graph.steps.size())));
}

}  // namespace morton::cli::pages
