// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "common/output.hpp"
#include "pages/charts.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {

Drawing draw(const MemoryMap& map) {
  constexpr double kWidth = 720.0;
  Pen pen;
  PlotBox box{84.0, kWidth - 16.0, 0.0, 0.0};
  box.top = legend(pen, map.series, box.left, box.right, 2.0) + 6.0;
  box.bottom = box.top + 280.0;
  Axis steps{"step"};
  steps.low = 0.0;
  steps.high = static_cast<double>(std::max(map.steps, 1));
  Axis bytes{"byte"};
  bytes.unit = Axis::Unit::bytes;
  bytes.low = 0.0;
  bytes.high = static_cast<double>(std::max<std::int64_t>(map.size, 1));
  const AxisMap x(steps, {}, box.left, box.right);
  const AxisMap y(bytes, {}, box.bottom, box.top);
  draw_axes(pen, box, steps, x, bytes, y);
  for (const MemoryMap::Block& block : map.blocks) {
    const double left = x.place(block.first_step);
    const double right = x.place(block.last_step + 1);
    const double bottom = y.place(static_cast<double>(block.offset));
    const double top = y.place(static_cast<double>(block.offset + block.bytes));
    pen.bar(left, top, right - left - 1.0, bottom - top - 0.5, block.series,
            fmt::format("{}: {} at byte {}, steps {} to {}", block.name, bytes_text(block.bytes),
                        block.offset, block.first_step, block.last_step),
            0.85);
    const auto fits =
        static_cast<std::size_t>(std::max(0.0, (right - left - 8.0) / text_width("m")));
    if (fits >= 3 && bottom - top >= 15.0) {
      pen.text("tick on", left + 4.0, (top + bottom) / 2.0 + 4.0, shortened(block.name, fits));
    }
  }
  return std::move(pen).drawing(kWidth, box.bottom + 46.0);
}

}  // namespace morton::cli::pages
