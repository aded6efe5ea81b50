// SPDX-License-Identifier: Apache-2.0
#include "problems/pool2d.hpp"

#include <cmath>
#include <limits>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

using Pair = SlidingWindow::Pair;

Pair image_size(const ProblemReader& problem) { return {problem.size("H"), problem.size("W")}; }

/// The largest element under a window, and its place. A NaN is taken where it comes first.
struct LargestUnder {
  double value = -std::numeric_limits<double>::infinity();
  std::int64_t h = -1;
  std::int64_t w = -1;
};

LargestUnder largest_under(ProblemReader& problem, const SlidingWindow& window,
                           const Coordinates& at) {
  LargestUnder largest;
  window.for_inside({at[2], at[3]}, image_size(problem),
                    [&](std::int64_t, std::int64_t, std::int64_t h, std::int64_t w) {
                      const double value = problem.load("src", {at[0], at[1], h, w});
                      if (largest.h < 0 || value > largest.value) largest = {value, h, w};
                    });
  return largest;
}

std::optional<double> max_pool2d_at(ProblemReader& problem, const Coordinates& at) {
  return largest_under(problem, problem.structure<SlidingWindow>(), at).value;
}

std::optional<double> average_pool2d_at(ProblemReader& problem, const Coordinates& at) {
  const auto average = problem.structure<AveragePool2dStructure>();
  double sum = 0.0;
  average.window.for_inside({at[2], at[3]}, image_size(problem),
                            [&](std::int64_t, std::int64_t, std::int64_t h, std::int64_t w) {
                              sum += problem.load("src", {at[0], at[1], h, w});
                            });
  return sum / static_cast<double>(average.divisor({at[2], at[3]}, image_size(problem)));
}

std::optional<double> lp_pool2d_at(ProblemReader& problem, const Coordinates& at) {
  const auto pool = problem.structure<LpPool2dStructure>();
  const auto p = static_cast<double>(pool.exponent);
  double sum = 0.0;
  pool.window.for_inside({at[2], at[3]}, image_size(problem),
                         [&](std::int64_t, std::int64_t, std::int64_t h, std::int64_t w) {
                           sum += std::pow(std::fabs(problem.load("src", {at[0], at[1], h, w})), p);
                         });
  return std::pow(sum, 1.0 / p);
}

std::optional<double> max_pool2d_indices_at(ProblemReader& problem, const Coordinates& at) {
  const auto pool = problem.structure<MaxPool2dIndicesStructure>();
  const LargestUnder largest = largest_under(problem, pool.window, at);
  const auto [height, width] = image_size(problem);
  const bool down = pool.order == MaxPool2dIndicesStructure::Order::columns;
  const std::int64_t place = down ? largest.w * height + largest.h : largest.h * width + largest.w;
  return static_cast<double>((at[0] * problem.size("C") + at[1]) * height * width + place);
}

std::optional<double> max_pool2d_gradient_at(ProblemReader& problem, const Coordinates& at) {
  const auto window = problem.structure<SlidingWindow>();
  double sum = 0.0;
  for (std::int64_t oh = 0; oh < problem.size("OH"); ++oh) {
    for (std::int64_t ow = 0; ow < problem.size("OW"); ++ow) {
      const LargestUnder largest = largest_under(problem, window, {at[0], at[1], oh, ow});
      if (largest.h != at[2] || largest.w != at[3]) continue;
      sum += problem.load("above", {at[0], at[1], oh, ow});
    }
  }
  return sum;
}

}  // namespace

std::int64_t AveragePool2dStructure::divisor(const Pair& place, const Pair& image) const {
  std::int64_t product = 1;
  for (std::size_t d = 0; d < 2; ++d) {
    const bool padded = count == PoolCount::padded;
    const std::int64_t first = padded ? -window.before[d] : 0;
    const std::int64_t end = padded ? image[d] + after[d] : image[d];
    std::int64_t counted = 0;
    for (std::int64_t k = 0; k < window.kernel[d]; ++k) {
      const std::int64_t row = window.at(d, place[d], k);
      if (row >= first && row < end) ++counted;
    }
    product *= counted;
  }
  return product;
}

ProblemFamily family_max_pool2d() {
  return {.id = families::max_pool2d,
          .operands = {{"src", {"N", "C", "H", "W"}}, OperandSchema::dst({"N", "C", "OH", "OW"})},
          .structure = field_names<SlidingWindow>(),
          .flop = Expression::parse("N*C*OH*OW*KH*KW", "max_pool2d"),
          .value_at = max_pool2d_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_average_pool2d() {
  return {.id = families::average_pool2d,
          .operands = {{"src", {"N", "C", "H", "W"}}, OperandSchema::dst({"N", "C", "OH", "OW"})},
          .structure = field_names<AveragePool2dStructure>(),
          .flop = Expression::parse("N*C*OH*OW*KH*KW", "average_pool2d"),
          .value_at = average_pool2d_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_lp_pool2d() {
  return {.id = families::lp_pool2d,
          .operands = {{"src", {"N", "C", "H", "W"}}, OperandSchema::dst({"N", "C", "OH", "OW"})},
          .structure = field_names<LpPool2dStructure>(),
          .flop = Expression::parse("2*N*C*OH*OW*KH*KW", "lp_pool2d"),
          .value_at = lp_pool2d_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_max_pool2d_indices() {
  return {.id = families::max_pool2d_indices,
          .operands = {{"src", {"N", "C", "H", "W"}}, OperandSchema::dst({"N", "C", "OH", "OW"})},
          .structure = field_names<MaxPool2dIndicesStructure>(),
          .flop = Expression::parse("N*C*OH*OW*KH*KW", "max_pool2d_indices"),
          .value_at = max_pool2d_indices_at};
}

ProblemFamily family_max_pool2d_gradient() {
  return {.id = families::max_pool2d_gradient,
          .operands = {{"src", {"N", "C", "H", "W"}},
                       {"above", {"N", "C", "OH", "OW"}},
                       OperandSchema::dst({"N", "C", "H", "W"})},
          .structure = field_names<SlidingWindow>(),
          .flop = Expression::parse("N*C*OH*OW*KH*KW", "max_pool2d_gradient"),
          .value_at = max_pool2d_gradient_at};
}

}  // namespace morton::problems
