// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>
#include <vector>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> determinant_at(ProblemReader& problem, const Coordinates& at) {
  if (at[1] != 0) return 0.0;
  const auto size = static_cast<std::size_t>(problem.size("M"));
  std::vector<std::vector<double>> rows(size, std::vector<double>(size));
  for (std::size_t m = 0; m < size; ++m) {
    for (std::size_t n = 0; n < size; ++n) {
      rows[m][n] =
          problem.load("src", {at[0], static_cast<std::int64_t>(m), static_cast<std::int64_t>(n)});
    }
  }
  double result = 1.0;
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t pivot = k;
    for (std::size_t m = k + 1; m < size; ++m) {
      if (std::fabs(rows[m][k]) > std::fabs(rows[pivot][k])) pivot = m;
    }
    if (pivot != k) {
      std::swap(rows[pivot], rows[k]);
      result = -result;
    }
    result *= rows[k][k];
    if (rows[k][k] == 0.0) break;
    for (std::size_t m = k + 1; m < size; ++m) {
      const double factor = rows[m][k] / rows[k][k];
      for (std::size_t n = k; n < size; ++n) rows[m][n] -= factor * rows[k][n];
    }
  }
  return result;
}

}  // namespace

/// dst[B,S]: at s = 0 the determinant of the matrix src[B,M,N], else 0. M = N, and S = M * N: a
/// kernel eliminates in that memory.
ProblemFamily family_determinant() {
  return {.id = families::determinant,
          .operands = {{"src", {"B", "M", "N"}}, OperandSchema::dst({"B", "S"})},
          .flop = Expression::parse("2*B*M*M*M/3", "determinant"),
          .value_at = determinant_at,
          .mixes = Dimensions{"S"}};
}

}  // namespace morton::problems
