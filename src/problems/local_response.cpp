// SPDX-License-Identifier: Apache-2.0
#include "problems/local_response.hpp"

#include <cmath>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> local_response_at(ProblemReader& problem, const Coordinates& at) {
  const auto local = problem.structure<LocalResponseStructure>();
  double sum = 0.0;
  for (std::int64_t c = at[1] - (local.size - 1) / 2; c <= at[1] + local.size / 2; ++c) {
    if (c < 0 || c >= problem.size("C")) continue;
    const double value = problem.load("src", {at[0], c, at[2]});
    sum += value * value;
  }
  const double share = static_cast<double>(local.alpha) / static_cast<double>(local.size);
  const double base = static_cast<double>(local.bias) + share * sum;
  return problem.load("src", at) / std::pow(base, static_cast<double>(local.beta));
}

}  // namespace

ProblemFamily family_local_response() {
  return {.id = families::local_response,
          .operands = {{"src", {"N", "C", "S"}}, OperandSchema::dst({"N", "C", "S"})},
          .structure = field_names<LocalResponseStructure>(),
          .flop = Expression::parse("N*C*S*(2*SIZE + 20)", "local_response"),
          .value_at = local_response_at,
          .mixes = Dimensions{"C"}};
}

}  // namespace morton::problems
