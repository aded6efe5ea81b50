// SPDX-License-Identifier: Apache-2.0
#include "pages/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

/// A drawing that does not fit at the least scroll in a box of its own.
constexpr double kLeastScale = 0.66;
constexpr double kMostScale = 1.25;
constexpr double kLegendRow = 20.0;
constexpr std::size_t kLegendName = 60;  ///< characters
constexpr double kSwatch = 26.0;         ///< with the space behind it

/// Of a series, by number; around (0, 0).
std::string_view shape_of(int series) {
  switch (series % 4) {
    case 0:
      return "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z";
    case 1:
      return "M-4,-4h8v8h-8z";
    case 2:
      return "M0,-5L5,4H-5z";
    default:
      return "M0,-5.5L5.5,0L0,5.5L-5.5,0z";
  }
}

std::string title_element(std::string_view title) {
  return title.empty() ? std::string() : fmt::format("<title>{}</title>", escaped(title));
}

}  // namespace

std::string svg_of(const Drawing& drawing, const std::string& title,
                   const std::string& alternative) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "style=\"min-width:{2:.0f}px;max-width:{3:.0f}px\" role=\"img\" "
      "aria-label=\"{4}\"><title>{5}</title><desc>{6}</desc>\n{7}</svg>\n",
      drawing.width, drawing.height, kLeastScale * drawing.width, kMostScale * drawing.width,
      escaped(title + ". " + alternative), escaped(title), escaped(alternative), drawing.elements);
}

void Pen::bar(double x, double y, double width, double height, int series, std::string_view title,
              double opacity) {
  // What has a size is seen, however small.
  elements_ += fmt::format(
      "<rect class=\"mark f{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"",
      series % kSeries, x, y, std::max(width, 0.5), std::max(height, 0.5));
  if (opacity < 1.0) elements_ += fmt::format(" fill-opacity=\"{:.3f}\"", opacity);
  elements_ += fmt::format(">{}</rect>\n", title_element(title));
}

void Pen::curve(const std::vector<std::pair<double, double>>& points, int series,
                std::string_view title) {
  if (points.size() < 2) return;
  elements_ += fmt::format("<polyline class=\"mark curve l{}\" points=\"", series % kSeries);
  for (const auto& [x, y] : points) elements_ += fmt::format("{:.2f},{:.2f} ", x, y);
  elements_ += fmt::format("\">{}</polyline>\n", title_element(title));
}

void Pen::marker(double x, double y, int series, std::string_view title) {
  elements_ += fmt::format(
      "<path class=\"mark f{}\" transform=\"translate({:.2f} {:.2f})\" d=\"{}\">{}</path>\n",
      series % kSeries, x, y, shape_of(series), title_element(title));
}

void Pen::line(std::string_view css_class, double x1, double y1, double x2, double y2) {
  elements_ +=
      fmt::format("<line class=\"{}\" x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\"/>\n",
                  css_class, x1, y1, x2, y2);
}

void Pen::text(std::string_view css_class, double x, double y, std::string_view text) {
  elements_ += fmt::format("<text class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n", css_class, x,
                           y, escaped(text));
}

void Pen::text_upwards(std::string_view css_class, double x, double y, std::string_view text) {
  elements_ += fmt::format(
      "<text class=\"{}\" transform=\"translate({:.2f} {:.2f}) rotate(-90)\">{}</text>\n",
      css_class, x, y, escaped(text));
}

double legend(Pen& pen, const std::vector<LegendEntry>& entries, double left, double right,
              double top) {
  using What = LegendEntry::What;
  double x = left;
  double y = top;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const int series = static_cast<int>(i) % kSeries;
    const What what = entries[i].what;
    const std::string name = shortened(entries[i].name, kLegendName);
    const double width = kSwatch + text_width(name) + 14.0;
    if (x > left && x + width > right) {
      x = left;
      y += kLegendRow;
    }
    if (what == What::bar) {
      pen.add(fmt::format(
          "<rect class=\"f{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"18\" height=\"11\"/>\n", series, x,
          y + 3.0));
    }
    if (what == What::curve || what == What::curve_and_points) {
      pen.line(fmt::format("curve l{}", series), x, y + 9.0, x + 20.0, y + 9.0);
    }
    if (what == What::points || what == What::curve_and_points) {
      pen.add(fmt::format("<path class=\"f{}\" transform=\"translate({:.1f} {:.1f})\" d=\"{}\"/>\n",
                          series, x + 10.0, y + 9.0, shape_of(series)));
    }
    pen.text("name", x + kSwatch, y + 13.0, name);
    x += width;
  }
  return entries.empty() ? top : y + kLegendRow + 4.0;
}

double legend(Pen& pen, const std::vector<std::string>& names, double left, double right,
              double top) {
  std::vector<LegendEntry> entries;
  for (const std::string& name : names) entries.push_back({LegendEntry::What::bar, name});
  return legend(pen, entries, left, right, top);
}

}  // namespace morton::cli::pages
