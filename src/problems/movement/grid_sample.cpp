// SPDX-License-Identifier: Apache-2.0
#include "problems/movement/grid_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

double reflected(double position, double least, double most) {
  const double range = most - least;
  if (range <= 0.0) return least;
  const double beyond = position < least ? least - position : position - most;
  if (beyond <= 0.0) return position;
  const double whole = std::floor(beyond / range);
  const double rest = beyond - whole * range;
  const bool even = std::fmod(whole, 2.0) == 0.0;
  return (position < least) == even ? least + rest : most - rest;
}

std::optional<double> grid_sample_at(ProblemReader& problem, const Coordinates& at) {
  const auto sample = problem.structure<GridSampleStructure>();
  constexpr std::array<const char*, 3> kExtents{"W", "H", "D"};
  std::array<double, 3> position{0.0, 0.0, 0.0};
  std::array<std::int64_t, 3> extent{1, 1, 1};
  std::array<std::int64_t, 3> first{0, 0, 0};
  std::array<std::int64_t, 3> taps{1, 1, 1};
  for (std::int64_t r = 0; r < sample.dimensions; ++r) {
    const auto k = static_cast<std::size_t>(r);
    extent[k] = problem.size(kExtents[k]);
    const double place = problem.load("grid", {at[0], at[2], r});
    position[k] = sample.moved_inside(sample.position(place, extent[k]), extent[k]);
    first[k] = sample.first_tap(position[k]);
    taps[k] = static_cast<std::int64_t>(sample.taps);
  }
  double sum = 0.0;
  for (std::int64_t t = 0; t < taps[0] * taps[1] * taps[2]; ++t) {
    const std::array<std::int64_t, 3> tap{t % taps[0], t / taps[0] % taps[1],
                                          t / taps[0] / taps[1]};
    std::array<std::int64_t, 3> element{0, 0, 0};
    double weight = 1.0;
    bool inside = true;
    for (std::size_t k = 0; k < static_cast<std::size_t>(sample.dimensions); ++k) {
      element[k] = sample.element(first[k] + tap[k], extent[k]);
      inside = inside && element[k] >= 0;
      weight *= sample.weight(position[k], first[k] + tap[k]);
    }
    if (!inside) continue;
    sum += weight * problem.load("src", {at[0], at[1], element[2], element[1], element[0]});
  }
  return sum;
}

}  // namespace

double GridSampleStructure::position(double place, std::int64_t extent) const {
  const auto whole = static_cast<double>(extent);
  const double position = ends == Ends::centres ? (place + 1.0) / 2.0 * (whole - 1.0)
                                                : ((place + 1.0) * whole - 1.0) / 2.0;
  return taps == Taps::nearest ? std::nearbyint(position) : position;
}

double GridSampleStructure::moved_inside(double position, std::int64_t extent) const {
  const double most = static_cast<double>(extent - 1) - least();
  const bool is_outside = position < least() || position > most;
  if (is_outside && outside == Outside::border) {
    position = std::clamp(position, 0.0, static_cast<double>(extent - 1));
  } else if (is_outside && outside == Outside::reflection) {
    position = reflected(position, least(), most);
  }
  // What is no number lies beyond too.
  return std::fmin(std::fmax(position, -kBeyond), static_cast<double>(extent) + kBeyond);
}

std::int64_t GridSampleStructure::first_tap(double position) const {
  if (taps == Taps::nearest) return static_cast<std::int64_t>(position);
  return static_cast<std::int64_t>(std::floor(position)) - (taps == Taps::cubic ? 1 : 0);
}

double GridSampleStructure::weight(double position, std::int64_t tap) const {
  if (taps == Taps::nearest) return 1.0;
  const double x = std::fabs(position - static_cast<double>(tap));
  if (taps == Taps::linear) return 1.0 - x;
  if (x <= 1.0) return ((kCubic + 2.0) * x - (kCubic + 3.0)) * x * x + 1.0;
  return ((kCubic * x - 5.0 * kCubic) * x + 8.0 * kCubic) * x - 4.0 * kCubic;
}

std::int64_t GridSampleStructure::element(std::int64_t at, std::int64_t extent) const {
  if (at >= 0 && at < extent) return at;
  if (outside == Outside::zeros) return -1;
  if (outside == Outside::border) return std::clamp<std::int64_t>(at, 0, extent - 1);
  const double most = static_cast<double>(extent - 1) - least();
  return static_cast<std::int64_t>(reflected(static_cast<double>(at), least(), most));
}

ProblemFamily family_grid_sample() {
  return {.id = families::grid_sample,
          .operands = {{"src", {"N", "C", "D", "H", "W"}},
                       {"grid", {"N", "P", "R"}},
                       OperandSchema::dst({"N", "C", "P"})},
          .structure = field_names<GridSampleStructure>(),
          .flop = Expression::parse("2*N*C*P*TAPS*TAPS", "grid_sample"),
          .value_at = grid_sample_at,
          .mixes = Dimensions{"P"}};
}

}  // namespace morton::problems
