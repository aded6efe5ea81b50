// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "layout/layout.hpp"
#include "morton/tools/layout.hpp"
#include "tools/inspect/layout_argument.hpp"

namespace morton {
using namespace tools;
namespace {

constexpr std::int64_t kMostOfASize = std::int64_t{1} << 12;
constexpr std::int64_t kMostElements = std::int64_t{1} << 20;

/// An operand of which the group reads `across` rows or columns, a step of k after the other.
struct WalkedOperand {
  enum class Along : std::uint8_t { columns, rows } k = Along::columns;
  layout::BoundLayout bound;
  std::int64_t across = 1;
};

/// The operand of a matrix that is `depth` long along k, and `width` the other way.
WalkedOperand walked(const std::string& text, WalkedOperand::Along k, std::int64_t across,
                     std::int64_t width, std::int64_t depth) {
  const std::vector<std::string> dimensions{"M", "N"};
  const layout::Layout order = layout_of_argument(text, dimensions);
  const auto padded = [&](int dimension, std::int64_t extent) {
    const std::int64_t tile = order.tile(dimension);
    if (tile > kMostOfASize) throw UsageError("layout '" + text + "': a tile beyond 2^12");
    return round_up(extent, tile);
  };
  const bool along_columns = k == WalkedOperand::Along::columns;
  return {k,
          layout::BoundLayout(order, {padded(0, along_columns ? width : depth),
                                      padded(1, along_columns ? depth : width)}),
          across};
}

/// The lines that one step of k touches.
std::set<std::int64_t> lines_of_step(const WalkedOperand& operand, const ProductAccess& access,
                                     std::int64_t step) {
  std::set<std::int64_t> lines;
  for (std::int64_t i = 0; i < operand.across; ++i) {
    for (std::int64_t k = step * access.step; k < (step + 1) * access.step; ++k) {
      const Shape at = operand.k == WalkedOperand::Along::columns ? Shape{i, k} : Shape{k, i};
      lines.insert(operand.bound.offset(at) * access.element_bytes / access.line_bytes);
    }
  }
  return lines;
}

std::int64_t new_lines(const std::set<std::int64_t>& now, const std::set<std::int64_t>& before) {
  return std::ranges::count_if(now, [&](std::int64_t line) { return !before.contains(line); });
}

void check_sizes(const ProductAccess& access) {
  const auto check = [](std::int64_t size, const char* what) {
    if (size >= 1 && size <= kMostOfASize) return;
    throw UsageError(std::string("layout: expected a ") + what + " from 1 to " +
                     std::to_string(kMostOfASize) + ", got " + std::to_string(size));
  };
  for (int d = 0; d < 2; ++d) {
    check(access.group[d], "work-group");
    check(access.patch[d], "patch");
    check(access.group[d] * access.patch[d], "tile of a work-group");
  }
  check(access.step, "step of k");
  check(access.line_bytes, "line in bytes");
  check(access.element_bytes, "element in bytes");
}

FetchedLines::Operand fetched_by(const WalkedOperand& operand, const ProductAccess& access,
                                 std::int64_t steps) {
  FetchedLines::Operand fetched;
  std::set<std::int64_t> before;
  std::int64_t last = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    std::set<std::int64_t> now = lines_of_step(operand, access, step);
    const std::int64_t lines = new_lines(now, before);
    fetched.lines = std::max(fetched.lines, lines);
    if (step > 0 && lines > 0 && fetched.every == 0) fetched.every = step - last;
    if (lines > 0) last = step;
    before = std::move(now);
  }
  return fetched;
}

}  // namespace

FetchedLines fetched_lines(const ProductAccess& access) {
  check_sizes(access);
  // As many steps as show the period: two lines along k, and one more.
  const std::int64_t step_bytes = access.step * access.element_bytes;
  const std::int64_t steps = 2 * ceil_div(access.line_bytes, step_bytes) + 1;
  // Rows and columns begin with a line, as those of large matrices mostly do.
  const std::int64_t depth = round_up(steps * access.step, access.line_bytes);
  const auto fetched = [&](const std::string& text, WalkedOperand::Along k, int side) {
    const std::int64_t across = access.group[side] * access.patch[side];
    if (across * steps * access.step > kMostElements) {
      throw UsageError("layout: a tile of " + std::to_string(across) + " and " +
                       std::to_string(steps) + " steps of " + std::to_string(access.step) +
                       " are too many elements; lower them");
    }
    return fetched_by(walked(text, k, across, round_up(across, access.line_bytes), depth), access,
                      steps);
  };
  return {fetched(access.lhs, WalkedOperand::Along::columns, 0),
          fetched(access.rhs, WalkedOperand::Along::rows, 1)};
}

}  // namespace morton
