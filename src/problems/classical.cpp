// SPDX-License-Identifier: Apache-2.0
#include "problems/classical.hpp"

#include <algorithm>
#include <limits>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

using Combine = TreesStructure::Combine;

double start_of(Combine combine) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (combine == Combine::sum) return 0.0;
  return combine == Combine::least ? kInfinity : -kInfinity;
}

double combined(Combine combine, double a, double b) {
  if (combine == Combine::sum) return a + b;
  return combine == Combine::least ? std::min(a, b) : std::max(a, b);
}

std::optional<double> trees_at(ProblemReader& problem, const Coordinates& at) {
  const auto trees = problem.structure<TreesStructure>();
  const bool is_f64 = trees.words == 4;
  const auto reader = [&](const char* operand) {
    return [&problem, operand](std::int64_t i) {
      return static_cast<std::int32_t>(problem.load(operand, {i}));
    };
  };
  const auto node = reader("nodes");
  const auto vote = reader("votes");
  const auto root = reader("roots");
  const std::int64_t all = problem.size("T");
  const std::int64_t range = (all + problem.size("S") - 1) / problem.size("S");
  double value = start_of(trees.combine);
  for (std::int64_t t = at[0] * range; t < std::min((at[0] + 1) * range, all); ++t) {
    std::int64_t place = 0;
    TreeRecord record;
    for (std::int64_t depth = root(2 * t + 1); depth >= 0; --depth) {
      record = tree_record(node, root(2 * t) + place, trees.words, problem.size("B"));
      const double feature = problem.load("src", {at[1], record.feature});
      place = record.child + (record.outcomes >> tree_outcome(feature, record.threshold) & 1U);
    }
    if (trees.targets == TreesStructure::Targets::one) {
      value = combined(trees.combine, value, record.threshold);
      continue;
    }
    const std::int64_t words = is_f64 ? 3 : 2;
    for (std::int64_t v = record.first_word;; v += words) {
      if (vote(v) / 2 == at[2]) {
        value = combined(trees.combine, value, real_in_words(vote, v + 1, is_f64));
      }
      if (vote(v) % 2 == 0) break;
    }
  }
  return value;
}

std::optional<double> coupling_at(ProblemReader& problem, const Coordinates& at) {
  const std::int64_t classes = problem.structure<CouplingStructure>().classes;
  std::vector<double> wins;
  for (std::int64_t p = 0; p < problem.size("P"); ++p) {
    wins.push_back(problem.load("src", {at[0], p}));
  }
  PairwiseCoupling<double> coupling(wins, classes);
  const double close = kCouplingDistance / static_cast<double>(classes);
  for (int s = 0; s < kCouplingSteps && coupling.distance() >= close; ++s) coupling.step();
  return coupling.value[static_cast<std::size_t>(at[1])];
}

}  // namespace

ProblemFamily family_trees() {
  return {.id = families::trees,
          .operands = {{"src", {"N", "F"}},
                       {"nodes", {"P"}},
                       {"roots", {"U"}},
                       {"votes", {"V"}},
                       OperandSchema::dst({"S", "N", "C"})},
          .structure = field_names<TreesStructure>(),
          .parameters = {"T", "B"},
          .flop = Expression::parse("8*N*T", "trees"),
          .value_at = trees_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_coupling() {
  return {.id = families::coupling,
          .operands = {{"src", {"N", "P"}}, OperandSchema::dst({"N", "C"})},
          .structure = field_names<CouplingStructure>(),
          .flop = Expression::parse("30*N*C*C", "coupling"),
          .value_at = coupling_at,
          .mixes = Dimensions{"C"}};
}

}  // namespace morton::problems
