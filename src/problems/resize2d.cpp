// SPDX-License-Identifier: Apache-2.0
#include "problems/resize2d.hpp"

#include <algorithm>
#include <cmath>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

/// A row (or column) that takes part, and its weight.
struct ResizeTap {
  std::int64_t at = 0;
  double weight = 0.0;
};

double tap_weight(const Resize2dStructure& resize, double distance) {
  if (resize.taps == Resize2dStructure::Taps::linear) return 1.0 - distance;
  const double a = resize.cubic;
  if (distance <= 1.0) return ((a + 2.0) * distance - (a + 3.0)) * distance * distance + 1.0;
  return a * (((distance - 5.0) * distance + 8.0) * distance - 4.0);
}

std::vector<ResizeTap> taps_around(const Resize2dStructure& resize, double position,
                                   std::int64_t extent) {
  const bool excludes = resize.outside == Resize2dStructure::Outside::excluded;
  const std::int64_t half = static_cast<std::int64_t>(resize.taps) / 2;
  const auto whole = static_cast<std::int64_t>(std::floor(position));
  std::vector<ResizeTap> taps;
  double total = 0.0;
  for (std::int64_t t = whole - half + 1; t <= whole + half; ++t) {
    if (excludes && (t < 0 || t >= extent)) continue;
    const double weight = tap_weight(resize, std::fabs(position - static_cast<double>(t)));
    total += weight;
    taps.push_back({std::clamp<std::int64_t>(t, 0, extent - 1), weight});
  }
  if (excludes) {
    for (ResizeTap& tap : taps) tap.weight /= total;
  }
  return taps;
}

std::optional<double> resize2d_at(ProblemReader& problem, const Coordinates& at) {
  const auto resize = problem.structure<Resize2dStructure>();
  const auto position = [&](std::int64_t index, const char* n, const char* a, const char* d) {
    return static_cast<double>(problem.size(n) * index + problem.size(a)) /
           static_cast<double>(problem.size(d));
  };
  const auto rows = taps_around(resize, position(at[1], "HN", "HA", "HD"), problem.size("H"));
  const auto columns = taps_around(resize, position(at[2], "WN", "WA", "WD"), problem.size("W"));
  double sum = 0.0;
  for (const ResizeTap& row : rows) {
    for (const ResizeTap& column : columns) {
      sum += row.weight * column.weight * problem.load("src", {at[0], row.at, column.at});
    }
  }
  return sum;
}

}  // namespace

ProblemFamily family_resize2d() {
  return {.id = families::resize2d,
          .operands = {{"src", {"C", "H", "W"}}, OperandSchema::dst({"C", "OH", "OW"})},
          .structure = field_names<Resize2dStructure>(),
          .parameters = {"HN", "HA", "HD", "WN", "WA", "WD"},
          .flop = Expression::parse("2*C*OH*OW*TAPS*(TAPS + 1)", "resize2d"),
          .value_at = resize2d_at,
          .mixes = Dimensions{}};
}

}  // namespace morton::problems
