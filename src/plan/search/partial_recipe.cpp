// SPDX-License-Identifier: Apache-2.0
#include "plan/search/partial_recipe.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace morton::plan {
namespace {

/// Of more ways than this to combine the first steps of a recipe, the cheapest go on.
constexpr std::size_t kMostCombinations = 256;

/// The kernel with other numbers for the temporaries from `first` on; itself where it has none.
KernelChoices::Shared renumbered(const KernelChoices::Shared& kernel, TensorId first, int shift) {
  const BoundProblem& bound = *kernel->bound;
  const auto is_shifted = [&](const auto& operand) { return operand.tensor >= first; };
  const bool is_touched =
      std::ranges::any_of(bound.sides, is_shifted) ||
      std::ranges::any_of(bound.operands, [&](const auto& one) { return is_shifted(one.second); });
  if (!is_touched) return kernel;
  BoundProblem other = bound;
  for (auto& [role, binding] : other.operands) {
    if (is_shifted(binding)) binding.tensor = binding.tensor.moved(shift);
  }
  for (auto& side : other.sides) {
    if (is_shifted(side)) side.tensor = side.tensor.moved(shift);
  }
  auto copy = std::make_shared<KernelChoice>(*kernel);
  copy->bound = std::make_shared<const BoundProblem>(std::move(other));
  return copy;
}

/// Temporaries of `part` are appended to those of `whole`, its kernels renumbered. Both know the
/// `outer` temporaries around the recipe, and the first `own` of `whole`, which are the recipe's.
void append(Candidate& whole, const Candidate& part, std::size_t outer, std::size_t own) {
  const TensorId first = temporary_id(outer + own);
  const auto shift = static_cast<int>(whole.temporaries.size()) - static_cast<int>(own);
  const bool stays = shift == 0 || part.temporaries.empty();
  for (const KernelChoices::Shared& kernel : part.kernels.shared()) {
    whole.kernels.push_back(stays ? kernel : renumbered(kernel, first, shift));
  }
  whole.temporaries.append(part.temporaries);
}

/// A way so far with a way to take the next step, before it is made.
struct Combination {
  std::size_t prefix = 0, part = 0;
  double us = 0.0;
};

/// All of them, or the cheapest kMostCombinations.
std::vector<Combination> combinations(const std::vector<PartialRecipe>& ways,
                                      const std::vector<Candidate>& parts) {
  std::vector<Combination> all;
  all.reserve(ways.size() * parts.size());
  for (std::size_t prefix = 0; prefix < ways.size(); ++prefix) {
    const double before_us = kernels_us(ways[prefix].candidate);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      all.push_back({prefix, part, before_us});
      for (const KernelChoice& kernel : parts[part].kernels) all.back().us += kernel.estimated_us;
    }
  }
  if (all.size() <= kMostCombinations) return all;
  std::ranges::stable_sort(all, {}, &Combination::us);
  all.resize(kMostCombinations);
  return all;
}

}  // namespace

double kernels_us(const Candidate& candidate) {
  double sum = 0.0;
  for (const KernelChoice& kernel : candidate.kernels) sum += kernel.estimated_us;
  return sum;
}

std::vector<PartialRecipe> branched(const std::vector<PartialRecipe>& ways, const StepWays& next) {
  std::vector<PartialRecipe> longer;
  const std::vector<Combination> all = combinations(ways, next.parts);
  longer.reserve(all.size());
  for (const Combination& one : all) {
    const Candidate& part = next.parts[one.part];
    PartialRecipe& joined = longer.emplace_back(ways[one.prefix]);
    append(joined.candidate, part, next.outer, next.own);
    const bool named = part.kernels.size() > 1 || next.parts.size() > 1;
    if (named) joined.candidate.name += "/" + part.name;
    joined.candidate.way += "/" + part.way;
    if (!joined.taken.empty()) joined.taken[next.step.step] = part.name;
  }
  return longer;
}

void follow(std::vector<PartialRecipe>& ways, const StepWays& next) {
  std::erase_if(ways, [&](PartialRecipe& way) {
    const std::string& taken = way.taken[next.step.step];
    const auto part = std::ranges::find(next.parts, taken, &Candidate::name);
    if (part == next.parts.end()) return true;
    append(way.candidate, *part, next.outer, next.own);
    return false;
  });
}

}  // namespace morton::plan
