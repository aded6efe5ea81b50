// SPDX-License-Identifier: Apache-2.0
#include "problems/movement/suppression.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

/// To f32. The sum, product and quotient of two f32 in double are rounded so as if they were exact.
double single(double value) { return static_cast<double>(static_cast<float>(value)); }

std::optional<double> suppression_at(ProblemReader& problem, const Coordinates& at) {
  const double threshold = problem.load("threshold", {0});
  const auto most = problem.load("most", {0});
  if (static_cast<double>(at[2]) >= problem.load("count", {at[0], at[1]})) return 0.0;
  std::vector<BoxOfCorners> kept;
  bool keeps = false;
  for (std::int64_t m = 0; m <= at[2]; ++m) {
    const auto n = static_cast<std::int64_t>(problem.load("order", {at[0], at[1], m}));
    keeps = static_cast<double>(kept.size()) < most && n >= 0 && n < problem.size("N");
    if (!keeps) continue;
    std::array<double, 4> corners{};
    for (std::size_t q = 0; q < corners.size(); ++q) {
      corners[q] = problem.load("boxes", {at[0], n, static_cast<std::int64_t>(q)});
    }
    const BoxOfCorners box(corners);
    keeps = std::ranges::none_of(kept, [&](const BoxOfCorners& other) {
      return intersection_over_union(box, other) > threshold;
    });
    if (keeps) kept.push_back(box);
  }
  return keeps ? 1.0 : 0.0;
}

}  // namespace

BoxOfCorners::BoxOfCorners(const std::array<double, 4>& corners)
    : low{std::fmin(corners[0], corners[2]), std::fmin(corners[1], corners[3])},
      high{std::fmax(corners[0], corners[2]), std::fmax(corners[1], corners[3])},
      area(single(single(high[0] - low[0]) * single(high[1] - low[1]))) {}

double intersection_over_union(const BoxOfCorners& a, const BoxOfCorners& b) {
  double intersection = 1.0;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double extent =
        single(std::fmin(a.high[axis], b.high[axis]) - std::fmax(a.low[axis], b.low[axis]));
    if (!(extent > 0.0)) return 0.0;
    intersection = single(intersection * extent);
  }
  if (intersection == 0.0) return 0.0;
  return single(intersection / single(single(a.area + b.area) - intersection));
}

/// suppression: which candidates greedy non-maximum suppression keeps, of B images and C classes.
///
///   boxes[B,N,Q]      two corners of each box: y, x, y, x
///   order[B,C,M]      the candidates, boxes of the image, the best one first
///   count[B,C]        how many of the M are candidates
///   threshold[E], most[E]   one number each
///   dst[B,C,M]        1 where a candidate is kept, else 0
///
/// Candidates are gone through in their order. One is kept unless its intersection over union
/// with one that is kept already is above the threshold, which is 0 or more, or `most` are kept. A
/// number that is no box's is not kept.
ProblemFamily family_suppression() {
  return {.id = families::suppression,
          .operands = {{"boxes", {"B", "N", "Q"}},
                       {"order", {"B", "C", "M"}},
                       {"count", {"B", "C"}},
                       {"threshold", {"E"}},
                       {"most", {"E"}},
                       OperandSchema::dst({"B", "C", "M"})},
          .flop = Expression::parse("8*B*C*M*M", "suppression"),
          .value_at = suppression_at,
          .mixes = Dimensions{"M"},
          .named_first = {"B", "C", "N", "M"}};
}

}  // namespace morton::problems
