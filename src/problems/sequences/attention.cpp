// SPDX-License-Identifier: Apache-2.0
#include "problems/sequences/attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

double score_at(ProblemReader& problem, const Coordinates& at, std::int64_t l) {
  double sum = 0.0;
  for (std::int64_t d = 0; d < problem.size("D"); ++d) {
    sum +=
        problem.load("query", {at[0], at[1], at[2], d}) * problem.load("key", {at[0], at[1], l, d});
  }
  const double mask =
      problem.load("mask", {problem.size("E") == 1 ? 0 : at[0], problem.size("F") == 1 ? 0 : at[1],
                            problem.size("G") == 1 ? 0 : at[2], problem.size("S") == 1 ? 0 : l});
  return static_cast<double>(problem.structure<AttentionStructure>().scale) * sum + mask;
}

std::optional<double> attention_at(ProblemReader& problem, const Coordinates& at) {
  std::vector<double> scores;
  for (std::int64_t l = 0; l < problem.size("L"); ++l) scores.push_back(score_at(problem, at, l));
  const double largest = std::ranges::max(scores);
  double sum = 0.0;
  double result = 0.0;
  for (std::int64_t l = 0; l < problem.size("L"); ++l) {
    const double power = std::exp(scores[static_cast<std::size_t>(l)] - largest);
    sum += power;
    result += power * problem.load("value", {at[0], at[1], l, at[3]});
  }
  return result / sum;
}

}  // namespace

std::optional<ScoreRule> score_rule_of(const Chain& epilogue) {
  using Kind = ScalarRef::Kind;
  // The chain is taken apart from its end: the mask's sum, then the scale.
  ScoreRule rule;
  ScalarRef at = epilogue.result;
  std::size_t used = 0;
  const auto step_at = [&](const ScalarRef& ref) -> const ScalarStep* {
    return ref.kind == Kind::step ? &epilogue.steps[ref.place()] : nullptr;
  };
  const auto is_input = [](const ScalarRef& ref, int index) {
    return ref.kind == Kind::input && ref.index == index;
  };
  if (const ScalarStep* step = step_at(at); step != nullptr && step->op == ScalarOp::add) {
    const std::size_t mask = is_input(step->arguments[0], 1) ? 0 : 1;
    if (!is_input(step->arguments[mask], 1)) return std::nullopt;
    rule.is_masked = true;
    at = step->arguments[1 - mask];
    ++used;
  }
  if (const ScalarStep* step = step_at(at); step != nullptr) {
    const bool is_division = step->op == ScalarOp::div;
    if (!is_division && step->op != ScalarOp::mul) return std::nullopt;
    const std::size_t factor = step->arguments[1].kind == Kind::constant ? 1 : 0;
    const ScalarRef& scale = step->arguments[factor];
    if (scale.kind != Kind::constant || (is_division && factor == 0)) return std::nullopt;
    rule.scale = static_cast<float>(is_division ? 1.0 / scale.value : scale.value);
    at = step->arguments[1 - factor];
    ++used;
  }
  if (!is_input(at, 0) || used != epilogue.steps.size()) return std::nullopt;
  return rule;
}

ProblemFamily family_attention() {
  return {.id = families::attention,
          .operands = {{"query", {"B", "H", "M", "D"}},
                       {"key", {"B", "H", "L", "D"}},
                       {"value", {"B", "H", "L", "W"}},
                       {"mask", {"E", "F", "G", "S"}},
                       OperandSchema::dst({"B", "H", "M", "W"})},
          .structure = field_names<AttentionStructure>(),
          .flop = Expression::parse("B*H*M*L*(2*D + 2*W + 5)", "attention"),
          .value_at = attention_at,
          .mixes = Dimensions{}};
}

}  // namespace morton::problems
