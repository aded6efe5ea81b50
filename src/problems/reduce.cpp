// SPDX-License-Identifier: Apache-2.0
#include "problems/reduce.hpp"

#include <algorithm>
#include <cmath>

#include "base/algebra/typed_chain.hpp"
#include "problems/solver.hpp"

namespace morton::problems {
namespace {

double mapped_by(ReduceStructure::Map map, double value) {
  if (map == ReduceStructure::Map::magnitude) return std::fabs(value);
  return map == ReduceStructure::Map::square ? value * value : value;
}

double combined_by(ReduceStructure::Combine combine, double a, double b) {
  switch (combine) {
    case ReduceStructure::Combine::sum:
      return a + b;
    case ReduceStructure::Combine::product:
      return a * b;
    case ReduceStructure::Combine::smallest:
      return std::min(a, b);
    case ReduceStructure::Combine::largest:
      return std::max(a, b);
  }
  throw InternalError("reduce: no such COMBINE");
}

std::optional<double> reduce_at(ProblemReader& problem, const Coordinates& at) {
  const auto reduce = problem.structure<ReduceStructure>();
  const std::int64_t first = at[0] * problem.size("DEPTH");
  const std::int64_t end = std::min(first + problem.size("DEPTH"), problem.size("L"));
  double total = 0.0;
  for (std::int64_t l = first; l < end; ++l) {
    const double value = mapped_by(reduce.map, problem.load("src", {at[1], l, at[2]}));
    total = l == first ? value : combined_by(reduce.combine, total, value);
  }
  if (reduce.finish == ReduceStructure::Finish::none) return total;
  const double mean = total / static_cast<double>(problem.size("COUNT"));
  return is_real(problem.problem().types.at("dst")) ? mean : std::trunc(mean);
}

std::optional<double> sum_at(ProblemReader& problem, const Coordinates& at) {
  double sum = 0.0;
  for (std::int64_t b = 0; b < problem.size("B"); ++b)
    sum += problem.load("src", {b, at[0], at[1]});
  return sum;
}

std::optional<double> log_sum_exp_at(ProblemReader& problem, const Coordinates& at) {
  double sum = 0.0;
  for (std::int64_t l = 0; l < problem.size("L"); ++l) {
    sum += std::exp(problem.load("src", {at[0], l, at[1]}));
  }
  // cppcheck-suppress invalidFunctionArg ; of no elements it is minus infinity
  return std::log(sum);
}

}  // namespace

ProblemFamily family_reduce() {
  return {.id = families::reduce,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"P", "M", "N"})},
          .structure = field_names<ReduceStructure>(),
          .parameters = {"DEPTH", "COUNT"},
          .flop = Expression::parse("M*L*N", "reduce"),
          .value_at = reduce_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_sum() {
  return {.id = families::sum,
          .operands = {{"src", {"B", "M", "N"}}, OperandSchema::dst({"M", "N"})},
          .flop = Expression::parse("B*M*N", "sum"),
          .value_at = sum_at};
}

ProblemFamily family_log_sum_exp() {
  return {.id = families::log_sum_exp,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"M", "N"})},
          .flop = Expression::parse("4*M*L*N", "log_sum_exp"),
          .value_at = log_sum_exp_at,
          .mixes = Dimensions{}};
}

}  // namespace morton::problems
