// SPDX-License-Identifier: Apache-2.0
#include "plan/search/candidates.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "plan/kernel/kernel_choice.hpp"
#include "plan/search/entry_candidate.hpp"
#include "plan/search/recipe_ways.hpp"
#include "plan/search/settle.hpp"
#include "plan/tasks/narrow.hpp"

namespace morton::plan {
namespace {

/// Every entry of the task's own family.
void list_entries(const PosedTask& posed, const PlanContext& context, CandidateList& list) {
  EntryCandidates ways(posed.task, context, posed.outer);
  const Family family = posed.task.bound.problem.family;
  for (auto& [entry, why_not] :
       context.policy.entries_for(family, {posed.path, context.decision})) {
    if (packs_one_layout(*entry)) {
      why_not = NotConsidered{NotConsidered::Why::packs_one_layout};
    }
    OrReason<Candidate> found = why_not ? std::move(*why_not) : ways.of(*entry);
    if (auto* reason = std::get_if<Reason>(&found)) {
      list.rejections.push_back({entry->name, std::move(*reason)});
    } else {
      list.candidates.push_back(std::get<Candidate>(std::move(found)));
    }
  }
}

/// What speaks against a problem of doubles.
std::optional<Reason> doubles_of(const Problem& problem) {
  for (const auto& [role, type] : problem.types) {
    if (type == DType::f64) return WrongType{role, type};
  }
  return std::nullopt;
}

/// What speaks against a recipe whose transforms need more bits than what lies in memory has.
std::optional<Reason> few_bits(const Recipe& recipe, const PosedTask& posed,
                               const PlanContext& context) {
  for (const auto& [role, binding] : posed.task.bound.operands) {
    const TaskTensor& tensor = tensor_at(binding.tensor, context.tasks, posed.outer);
    const int bits = tensor.dtype == DType::f16 ? 11 : 8;
    const bool is_few = tensor.is_rounded && role != "dst" && bits < recipe.significant_bits;
    if (is_few) return FewBits{tensor.dtype, recipe.significant_bits};
  }
  return std::nullopt;
}

/// Every recipe of the task's own family.
void list_recipes(const PosedTask& posed, const PlanContext& context, CandidateList& list) {
  const Family family = posed.task.bound.problem.family;
  const std::optional<Reason> doubles = doubles_of(posed.task.bound.problem);
  for (auto& [recipe, why_not] :
       context.policy.recipes_for(family, {posed.path, context.decision})) {
    // The problems of a recipe's steps are of f32.
    if (doubles && !why_not) why_not = *doubles;
    if (!why_not) why_not = few_bits(*recipe, posed, context);
    OrReason<std::vector<Candidate>> found =
        why_not ? std::move(*why_not) : recipe_ways(*recipe, posed, context);
    if (auto* reason = std::get_if<Reason>(&found)) {
      list.rejections.push_back({recipe->name, std::move(*reason)});
    } else {
      std::ranges::move(std::get<std::vector<Candidate>>(found),
                        std::back_inserter(list.candidates));
    }
  }
}

}  // namespace

CandidateList list_within(const PosedTask& posed, const PlanContext& context) {
  CandidateList list;
  const auto add_family = [&](const Task& task) {
    const PosedTask own{task, posed.outer, posed.path};
    list_entries(own, context, list);
    list_recipes(own, context, list);
  };
  bool wanted = false;
  const auto at = [&](TensorId id) -> const TaskTensor& {
    return tensor_at(id, context.tasks, posed.outer);
  };
  const BoundProblem& whole = posed.task.bound;
  const bool whole_only = context.options.use.contains(whole.problem.family);
  for (auto& bound : narrowed(whole, at)) {
    const bool asked = context.options.use.contains(bound.problem.family);
    if (whole_only && !asked) continue;
    wanted = wanted || asked;
    add_family({posed.task.name, std::move(bound)});
  }
  if (!wanted) add_family(posed.task);
  return list;
}

CandidateList find_candidates(const Task& task, const PlanContext& context) {
  CandidateList list = list_within({task, {}, {}}, context);
  for (auto& candidate : list.candidates) add_up(candidate, context);
  std::stable_sort(
      list.candidates.begin(), list.candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.estimated_us < b.estimated_us; });
  if (!list.candidates.empty()) return list;
  const Family family = task.bound.problem.family;
  const std::string wanted = context.policy.wanted_for(family);
  if (wanted.empty()) return list;
  const Message reasons = lines_of(list.rejections);
  UsageError error(setting("use", family.name() + "=" + wanted) + " cannot compute " + task.name +
                   (reasons.empty() ? ": no such kernel or recipe" : reasons));
  error.set_rejected(rejected_kernels(list.rejections));
  throw error;
}

double run_us(const Candidate& candidate) {
  double sum = candidate.estimated_us;
  for (const KernelChoice& kernel : candidate.kernels) sum -= kernel.building_us;
  return sum;
}

Reason no_candidate(const Task& task, std::vector<Rejection> rejections) {
  return NoCandidate{task.name, print(task.bound.problem), std::move(rejections)};
}

CandidateList list_candidates(const Task& task, const PlanContext& context) {
  CandidateList list = find_candidates(task, context);
  if (!list.candidates.empty()) return list;
  throw error_of(no_candidate(task, std::move(list.rejections)));
}

}  // namespace morton::plan
