// SPDX-License-Identifier: Apache-2.0
#include "problems/movement/roi.hpp"

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> roi_align_at(ProblemReader& problem, const Coordinates& at) {
  const auto align = problem.structure<RoiAlignStructure>();
  const auto n = static_cast<std::int64_t>(problem.load("batch", {at[0]}));
  if (n < 0 || n >= problem.size("N")) return 0.0;
  const auto corner = [&](std::int64_t q) { return problem.load("rois", {at[0], q}); };
  const auto across = align.side(corner(0), corner(2), problem.size("OW"));
  const auto down = align.side(corner(1), corner(3), problem.size("OH"));
  const bool mean = align.pool == RoiAlignStructure::Pool::mean;
  double result = 0.0;
  for (std::int64_t s = 0; s < down.samples * across.samples; ++s) {
    const auto rows =
        RoiAlignStructure::between(down.point(at[2], s / across.samples), problem.size("H"));
    const auto columns =
        RoiAlignStructure::between(across.point(at[3], s % across.samples), problem.size("W"));
    double sum = 0.0;
    double largest = 0.0;
    for (std::int64_t k = 0; rows.first >= 0 && columns.first >= 0 && k < 4; ++k) {
      const double weight = (k < 2 ? 1.0 - rows.weight : rows.weight) *
                            (k % 2 == 0 ? 1.0 - columns.weight : columns.weight);
      const double value =
          weight * problem.load("src", {n, at[1], k < 2 ? rows.first : rows.second,
                                        k % 2 == 0 ? columns.first : columns.second});
      sum += value;
      largest = k == 0 ? value : std::max(largest, value);
    }
    if (mean) result += sum;
    if (!mean) result = s == 0 ? largest : std::max(result, largest);
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(down.samples * across.samples, 1));
  return mean ? result / count : result;
}

std::optional<double> roi_max_pool_at(ProblemReader& problem, const Coordinates& at) {
  const auto pool = problem.structure<RoiMaxPoolStructure>();
  const auto corner = [&](std::int64_t q) { return problem.load("rois", {at[0], q}); };
  const double image = corner(0);
  const bool is_place = pool.result == RoiMaxPoolStructure::Result::place;
  const double none = is_place ? -1.0 : 0.0;
  if (!(image >= 0.0 && image < static_cast<double>(problem.size("N")))) return none;
  const std::int64_t plane = static_cast<std::int64_t>(image) * problem.size("C") + at[1];
  const auto rows = pool.bin(corner(2), corner(4), at[2], problem.size("OH"), problem.size("H"));
  const auto columns = pool.bin(corner(1), corner(3), at[3], problem.size("OW"), problem.size("W"));
  std::optional<double> largest;
  double result = none;
  for (std::int64_t h = rows.first; h < rows.end; ++h) {
    for (std::int64_t w = columns.first; w < columns.end; ++w) {
      const double value = problem.load("src", {static_cast<std::int64_t>(image), at[1], h, w});
      if (largest && !RoiMaxPoolStructure::is_larger(value, *largest)) continue;
      largest = value;
      const std::int64_t place = (plane * problem.size("H") + h) * problem.size("W") + w;
      result = is_place ? static_cast<double>(place) : value;
    }
  }
  return result;
}

}  // namespace

ProblemFamily family_roi_align() {
  return {.id = families::roi_align,
          .operands = {{"src", {"N", "C", "H", "W"}},
                       {"rois", {"R", "Q"}},
                       {"batch", {"R"}},
                       OperandSchema::dst({"R", "C", "OH", "OW"})},
          .structure = field_names<RoiAlignStructure>(),
          .flop = Expression::parse("32*R*C*OH*OW", "roi_align"),
          .value_at = roi_align_at,
          .mixes = Dimensions{"R"}};
}

ProblemFamily family_roi_max_pool() {
  return {.id = families::roi_max_pool,
          .operands = {{"src", {"N", "C", "H", "W"}},
                       {"rois", {"R", "Q"}},
                       OperandSchema::dst({"R", "C", "OH", "OW"})},
          .structure = field_names<RoiMaxPoolStructure>(),
          .flop = Expression::parse("16*R*C*OH*OW", "roi_max_pool"),
          .value_at = roi_max_pool_at,
          .mixes = Dimensions{"R"}};
}

}  // namespace morton::problems
