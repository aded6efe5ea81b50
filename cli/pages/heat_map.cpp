// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "pages/charts.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

constexpr std::size_t kHeatName = 14;       ///< characters
constexpr std::size_t kMostHeatWords = 24;  ///< cells in a row that still have room for a number

double heat_names(const std::vector<std::string>& names) {
  double room = 0.0;
  for (const std::string& name : names) {
    room = std::max(room, text_width(shortened(name, kHeatName)));
  }
  return room + 8.0;
}

void draw_heat_cell(Pen& pen, const HeatMap& map, const PlotBox& cell, std::size_t r,
                    std::size_t c) {
  const double value = map.values[r][c];
  const double most = *std::ranges::max_element(map.values[r]);
  const double share = most > 0.0 ? std::clamp(value / most, 0.0, 1.0) : 0.0;
  pen.add(fmt::format(
      "<rect class=\"cell\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>\n",
      cell.left, cell.top, cell.right - cell.left, cell.bottom - cell.top));
  if (!(value > 0.0)) return;
  pen.bar(cell.left, cell.top, cell.right - cell.left, cell.bottom - cell.top, 0,
          fmt::format("{} {}, {} {}: {:.6g}", map.row_label, map.rows[r], map.column_label,
                      map.columns[c], value),
          0.08 + 0.92 * share);
  if (map.columns.size() > kMostHeatWords) return;
  pen.text(share > 0.5 ? "tick middle on" : "tick middle", (cell.left + cell.right) / 2.0,
           (cell.top + cell.bottom) / 2.0 + 4.0, tick_text(value));
}

}  // namespace

Drawing draw(const HeatMap& map) {
  Pen pen;
  const double most = static_cast<double>(std::max(map.rows.size(), map.columns.size()));
  const double side = std::clamp(620.0 / std::max(most, 1.0), 8.0, 44.0);
  const double left = heat_names(map.rows) + 22.0;
  const double top = heat_names(map.columns) + 22.0;
  const PlotBox box{left, left + side * static_cast<double>(map.columns.size()), top,
                    top + side * static_cast<double>(map.rows.size())};
  const bool words = side >= 12.0;
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = top + side * static_cast<double>(r);
    if (words)
      pen.text("name end", left - 6.0, y + side / 2.0 + 4.0, shortened(map.rows[r], kHeatName));
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const double x = left + side * static_cast<double>(c);
      draw_heat_cell(pen, map, {x, x + side, y, y + side}, r, c);
    }
  }
  for (std::size_t c = 0; words && c < map.columns.size(); ++c) {
    pen.text_upwards("name", left + side * (static_cast<double>(c) + 0.5) + 4.0, top - 6.0,
                     shortened(map.columns[c], kHeatName));
  }
  pen.text("label middle", (box.left + box.right) / 2.0, 14.0, map.column_label);
  pen.text_upwards("label middle", 14.0, (box.top + box.bottom) / 2.0, map.row_label);
  return std::move(pen).drawing(std::max(box.right + 12.0, 320.0), box.bottom + 10.0);
}

}  // namespace morton::cli::pages
