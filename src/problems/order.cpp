// SPDX-License-Identifier: Apache-2.0
#include "problems/order.hpp"

#include "base/error.hpp"
#include "problems/solver.hpp"

namespace morton::problems {
namespace {

/// Below, at and above 0 where element a of a row comes before, beside and behind element b.
int compare_in_order(FirstInOrder first, double a, double b) {
  if (a == b) return 0;
  const bool comes_before = first == FirstInOrder::largest ? a > b : a < b;
  return comes_before ? -1 : 1;
}

std::optional<double> arg_max_at(ProblemReader& problem, const Coordinates& at) {
  const auto arg = problem.structure<ArgMaxStructure>();
  std::int64_t best = 0;
  for (std::int64_t l = 1; l < problem.size("L"); ++l) {
    const int order = compare_in_order(arg.first, problem.load("src", {at[0], l, at[1]}),
                                       problem.load("src", {at[0], best, at[1]}));
    if (order < 0 || (order == 0 && arg.equals == ArgMaxStructure::Equals::last)) best = l;
  }
  return static_cast<double>(best);
}

std::optional<double> top_k_at(ProblemReader& problem, const Coordinates& at) {
  const auto top = problem.structure<TopKStructure>();
  for (std::int64_t l = 0; l < problem.size("L"); ++l) {
    const double value = problem.load("src", {at[0], l, at[2]});
    std::int64_t before = 0;
    for (std::int64_t j = 0; j < problem.size("L"); ++j) {
      const int order = compare_in_order(top.first, problem.load("src", {at[0], j, at[2]}), value);
      before += order < 0 || (order == 0 && j < l) ? 1 : 0;
    }
    if (before != at[1]) continue;
    return top.result == TopKStructure::Result::indices ? static_cast<double>(l) : value;
  }
  throw InternalError("top_k: no such place in an order");
}

}  // namespace

ProblemFamily family_arg_max() {
  return {.id = families::arg_max,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"M", "N"})},
          .structure = field_names<ArgMaxStructure>(),
          .flop = Expression::parse("M*L*N", "arg_max"),
          .value_at = arg_max_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_top_k() {
  return {.id = families::top_k,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"M", "K", "N"})},
          .structure = field_names<TopKStructure>(),
          .flop = Expression::parse("M*L*N", "top_k"),
          .value_at = top_k_at,
          .mixes = Dimensions{"K"}};
}

}  // namespace morton::problems
