// SPDX-License-Identifier: Apache-2.0
#include "pages/layout_picture.hpp"

#include <fmt/format.h>

#include "common/output.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr std::int64_t kMostAcross = 64;
constexpr int kCell = 40;    ///< pixels of an element
constexpr int kMargin = 30;  ///< above and beside, for indices

/// Colours by the viewer's scheme.
constexpr const char* kStyle = R"(<style>
svg { background: #fff; color: #222; font: 11px sans-serif }
.cell { fill: none; stroke: #ccc }
.padding { fill: #eee; stroke: #ccc }
.path { fill: none; stroke: #2060c0; stroke-width: 2; stroke-linejoin: round; opacity: .7 }
.begin { fill: #2060c0 }
text { fill: currentColor; text-anchor: middle; dominant-baseline: central }
@media (prefers-color-scheme: dark) {
  svg { background: #181818; color: #ddd }
  .cell { stroke: #444 }
  .padding { fill: #2a2a2a; stroke: #444 }
  .path { stroke: #7ab0ff }
  .begin { fill: #7ab0ff }
}
</style>
)";

int middle(std::int64_t index) { return kMargin + static_cast<int>(index) * kCell + kCell / 2; }

}  // namespace

pages::Drawing drawing_of(const LayoutMap& map) {
  if (map.padded.size() != 2) throw UsageError("layout: a picture is of a matrix");
  const std::int64_t rows = map.padded[0];
  const std::int64_t columns = map.padded[1];
  if (rows > kMostAcross || columns > kMostAcross) {
    throw UsageError(
        fmt::format("layout: a picture has at most {} rows and columns, padding "
                    "included; this matrix has {}x{}",
                    kMostAcross, rows, columns));
  }
  std::string svg;
  std::vector<std::string> path(map.offsets.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t offset = map.offsets[r * columns + c];
      const bool is_padding = r >= map.extents[0] || c >= map.extents[1];
      svg += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                         is_padding ? "padding" : "cell", kMargin + c * kCell, kMargin + r * kCell,
                         kCell, kCell);
      path[offset] = fmt::format("{},{}", middle(c), middle(r));
    }
  }
  svg += fmt::format("<polyline class=\"mark path\" points=\"{}\"/>\n", fmt::join(path, " "));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t offset = map.offsets[r * columns + c];
      if (offset == 0) {
        svg += fmt::format("<circle class=\"begin\" cx=\"{}\" cy=\"{}\" r=\"5\"/>\n", middle(c),
                           middle(r));
      }
      svg += fmt::format("<text class=\"place\" x=\"{}\" y=\"{}\">{}</text>\n", middle(c) + 10,
                         middle(r) - 11, offset);
    }
  }
  for (std::int64_t c = 0; c < columns; ++c) {
    svg += fmt::format("<text class=\"place\" x=\"{}\" y=\"{}\">{}</text>\n", middle(c),
                       kMargin / 2, c);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    svg += fmt::format("<text class=\"place\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin / 2,
                       middle(r), r);
  }
  return {static_cast<double>(kMargin + columns * kCell + kMargin / 2),
          static_cast<double>(kMargin + rows * kCell + kMargin / 2), svg};
}

std::string picture_of(const LayoutMap& map) {
  const pages::Drawing drawing = drawing_of(map);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\">\n<title>{2} of {3}</title>\n<desc>Offsets of the elements, "
      "and the path that memory takes through them.</desc>\n{4}{5}</svg>\n",
      drawing.width, drawing.height, map.layout, shape_text(map.extents), kStyle, drawing.elements);
}

}  // namespace morton::cli
