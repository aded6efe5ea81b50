// SPDX-License-Identifier: Apache-2.0
#include "problems/cumulative_sum.hpp"

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> cumulative_sum_at(ProblemReader& problem, const Coordinates& at) {
  const auto cumulative = problem.structure<CumulativeSumStructure>();
  const bool from_back = cumulative.from == CumulativeSumStructure::From::back;
  double sum = 0.0;
  for (std::int64_t l = 0; l < problem.size("L"); ++l) {
    const bool before = from_back ? l > at[1] : l < at[1];
    const bool own = l == at[1] && cumulative.own == CumulativeSumStructure::Own::included;
    if (before || own) sum += problem.load("src", {at[0], l, at[2]});
  }
  return sum;
}

}  // namespace

ProblemFamily family_cumulative_sum() {
  return {.id = families::cumulative_sum,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"M", "L", "N"})},
          .structure = field_names<CumulativeSumStructure>(),
          .flop = Expression::parse("M*L*N", "cumulative_sum"),
          .value_at = cumulative_sum_at,
          .mixes = Dimensions{"L"}};
}

}  // namespace morton::problems
