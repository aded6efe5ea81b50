// SPDX-License-Identifier: Apache-2.0
#include "problems/normalize.hpp"

#include <cmath>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> normalize_at(ProblemReader& problem, const Coordinates& at) {
  using Kind = NormalizeStructure::Kind;
  const auto normalize = problem.structure<NormalizeStructure>();
  const std::int64_t length = problem.size("L");
  double mean = 0.0;
  for (std::int64_t l = 0; normalize.kind == Kind::deviation && l < length; ++l) {
    mean += problem.load("src", {at[0], l, at[2]}) / static_cast<double>(length);
  }
  double sum = 0.0;
  for (std::int64_t l = 0; l < length; ++l) {
    const double distance = problem.load("src", {at[0], l, at[2]}) - mean;
    sum += normalize.kind == Kind::magnitudes ? std::fabs(distance) : distance * distance;
  }
  if (normalize.kind == Kind::deviation) {
    sum = sum / static_cast<double>(length) + static_cast<double>(normalize.epsilon);
  }
  const double unit = normalize.kind == Kind::magnitudes ? sum : std::sqrt(sum);
  return (problem.load("src", at) - mean) / unit;
}

std::optional<double> inverse_deviation_at(ProblemReader& problem, const Coordinates& at) {
  const auto epsilon = problem.structure<InverseDeviationStructure>().epsilon;
  const auto length = static_cast<double>(problem.size("L"));
  double mean = 0.0;
  double squares = 0.0;
  for (std::int64_t l = 0; l < problem.size("L"); ++l) {
    const double value = problem.load("src", {at[0], l, at[1]});
    mean += value / length;
    squares += value * value / length;
  }
  return 1.0 / std::sqrt(squares - mean * mean + static_cast<double>(epsilon));
}

}  // namespace

ProblemFamily family_normalize() {
  return {.id = families::normalize,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"M", "L", "N"})},
          .structure = field_names<NormalizeStructure>(),
          .flop = Expression::parse("6*M*L*N", "normalize"),
          .value_at = normalize_at,
          .mixes = Dimensions{"L"}};
}

ProblemFamily family_inverse_deviation() {
  return {.id = families::inverse_deviation,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"M", "N"})},
          .structure = field_names<InverseDeviationStructure>(),
          .flop = Expression::parse("4*M*L*N", "inverse_deviation"),
          .value_at = inverse_deviation_at,
          .mixes = Dimensions{}};
}

}  // namespace morton::problems
