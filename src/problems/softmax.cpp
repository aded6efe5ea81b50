// SPDX-License-Identifier: Apache-2.0
#include "problems/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> softmax_at(ProblemReader& problem, const Coordinates& at) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t l = 0; l < problem.size("L"); ++l) {
    largest = std::max(largest, problem.load("src", {at[0], l, at[2]}));
  }
  double sum = 0.0;
  for (std::int64_t l = 0; l < problem.size("L"); ++l) {
    sum += std::exp(problem.load("src", {at[0], l, at[2]}) - largest);
  }
  const double value = problem.load("src", at) - largest;
  const auto result = problem.structure<SoftmaxStructure>().result;
  return result == SoftmaxStructure::Result::logarithm ? value - std::log(sum)
                                                       : std::exp(value) / sum;
}

std::optional<double> hardmax_at(ProblemReader& problem, const Coordinates& at) {
  const double value = problem.load("src", at);
  for (std::int64_t l = 0; l < problem.size("L"); ++l) {
    const double other = problem.load("src", {at[0], l, at[2]});
    if (other > value || (other == value && l < at[1])) return 0.0;
  }
  return 1.0;
}

}  // namespace

ProblemFamily family_softmax() {
  return {.id = families::softmax,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"M", "L", "N"})},
          .structure = field_names<SoftmaxStructure>(),
          .flop = Expression::parse("5*M*L*N", "softmax"),
          .value_at = softmax_at,
          .mixes = Dimensions{"L"}};
}

ProblemFamily family_hardmax() {
  return {.id = families::hardmax,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"M", "L", "N"})},
          .flop = Expression::parse("M*L*N", "hardmax"),
          .value_at = hardmax_at,
          .mixes = Dimensions{"L"}};
}

}  // namespace morton::problems
