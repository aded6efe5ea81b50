// SPDX-License-Identifier: Apache-2.0
#include "plan/search/candidates.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/search/entry_candidate.hpp"
#include "plan/search/kernel_choice.hpp"
#include "plan/search/narrow.hpp"
#include "plan/search/recipe.hpp"
#include "plan/search/settle.hpp"

namespace morton::plan {
namespace {

/// Of more ways than this to combine the first steps of a recipe, the cheapest go on.
constexpr std::size_t kMostCombinations = 256;
/// Each slab is planned by itself and launches kernels of its own.
constexpr std::int64_t kMostSlabs = 256;
/// How often the slabs are halved for the ways that are beyond the workspace limit where others are
/// within it.
constexpr int kMostDoublings = 2;

double kernels_us(const Candidate& candidate) {
  double sum = 0.0;
  for (const KernelChoice& kernel : candidate.kernels) sum += kernel.estimated_us;
  return sum;
}

/// Temporaries of `part` are appended to those of `whole`, its kernels renumbered. Both know the
/// `outer` temporaries around the recipe, and the first `own` of `whole`, which are the recipe's.
void append(Candidate& whole, const Candidate& part, std::size_t outer, std::size_t own) {
  const std::size_t known = outer + own;
  const auto shift = static_cast<int>(whole.temporaries.size()) - static_cast<int>(own);
  const auto renumber = [&](int& id) {
    if (id >= kFirstTemporary + static_cast<int>(known)) id += shift;
  };
  const bool stays = shift == 0 || part.temporaries.empty();
  for (const KernelChoices::Shared& kernel : part.kernels.shared()) {
    if (stays) {
      whole.kernels.push_back(kernel);
      continue;
    }
    KernelChoice renumbered = *kernel;
    for (auto& [role, binding] : renumbered.bound.operands) renumber(binding.tensor);
    for (auto& side : renumbered.bound.sides) renumber(side.tensor);
    whole.kernels.push_back(std::move(renumbered));
  }
  whole.temporaries.insert(whole.temporaries.end(), part.temporaries.begin(),
                           part.temporaries.end());
}

CandidateList list_within(const Task& task, const PlanContext& context,
                          const std::vector<TaskTensor>& outer, const RecipePath& path);

UnsupportedError exceeds_limit(std::int64_t bytes, const PlanContext& context) {
  return UnsupportedError("its temporaries of " + std::to_string(bytes) +
                          " bytes exceed the workspace limit of " +
                          std::to_string(context.workspace_limit_bytes));
}

/// What no format takes less than.
void require_within_limit(const ExpandedRecipe& expanded, const PlanContext& context,
                          std::size_t known) {
  const std::int64_t bytes = workspace_bytes(expanded, known);
  if (bytes > context.workspace_limit_bytes) throw exceeds_limit(bytes, context);
}

/// A way through the steps of a recipe so far, and which candidate it took for each.
struct PartialRecipe {
  Candidate candidate;
  std::map<std::size_t, std::string> taken;  ///< by the recipe's step: the candidate's name
};

/// A step of a recipe, the ways to take it, and how many temporaries are around the recipe and its
/// own.
struct StepWays {
  const ExpandedStep& step;
  const std::vector<Candidate>& parts;
  std::size_t outer = 0, own = 0;
};

/// Each way so far with each way to take a step that is new.
std::vector<PartialRecipe> branched(const std::vector<PartialRecipe>& ways, const StepWays& next) {
  std::vector<PartialRecipe> longer;
  for (const PartialRecipe& prefix : ways) {
    for (const Candidate& part : next.parts) {
      PartialRecipe joined = prefix;
      append(joined.candidate, part, next.outer, next.own);
      const bool named = part.kernels.size() > 1 || next.parts.size() > 1;
      if (named) joined.candidate.name += "/" + part.name;
      joined.candidate.way += "/" + part.way;
      joined.taken.emplace(next.step.step, part.name);
      longer.push_back(std::move(joined));
    }
  }
  return longer;
}

/// The same step of a later slab is computed as the first slab's is; ways that cannot go.
void follow(std::vector<PartialRecipe>& ways, const StepWays& next) {
  std::erase_if(ways, [&](PartialRecipe& way) {
    const std::string& taken = way.taken.at(next.step.step);
    const auto part = std::ranges::find(next.parts, taken, &Candidate::name);
    if (part == next.parts.end()) return true;
    append(way.candidate, *part, next.outer, next.own);
    return false;
  });
}

/// Leaves kMostCombinations of them.
void keep_cheapest(std::vector<PartialRecipe>& ways) {
  if (ways.size() <= kMostCombinations) return;
  const auto cost_us = [](const PartialRecipe& way) { return kernels_us(way.candidate); };
  std::ranges::stable_sort(ways, {}, cost_us);
  ways.erase(ways.begin() + kMostCombinations, ways.end());
}

/// True for a single kernel that takes and leaves its operands wherever they lie.
bool is_free_of_formats(const Candidate& candidate) {
  return candidate.kernels.size() == 1 && candidate.temporaries.empty() &&
         std::ranges::all_of(candidate.kernels[0].demands, [](const auto& demand) {
           return demand.second.kind == Demand::Kind::any;
         });
}

/// Of such kernels that leave the same padding only time tells them apart: the slower ones go.
void drop_slower(std::vector<Candidate>& candidates) {
  const auto rim_of = [](const Candidate& candidate) {
    return candidate.kernels[0].entry->operands.at("dst").rim;
  };
  const std::vector<Candidate> all = candidates;
  std::erase_if(candidates, [&](const Candidate& slow) {
    return is_free_of_formats(slow) && std::ranges::any_of(all, [&](const Candidate& fast) {
             return is_free_of_formats(fast) && rim_of(fast) == rim_of(slow) &&
                    kernels_us(fast) < kernels_us(slow);
           });
  });
}

/// All ways to take one step of a recipe, which may name its kernel.
CandidateList list_step(const std::string& kernel, const Task& task, const PlanContext& context,
                        const std::vector<TaskTensor>& outer, const RecipePath& path) {
  if (kernel.empty()) return list_within(task, context, outer, path);
  const KernelPolicy policy = context.policy.with_step_kernel(task.bound.problem.family, kernel);
  PlanContext naming(policy, context.device, context.tasks);
  naming.decision = context.decision;
  return list_within(task, naming, outer, path);
}

/// All ways through the recipe as `setting` says.
std::vector<Candidate> candidates_in_slabs(const Recipe& recipe, const Task& task,
                                           const PlanContext& context,
                                           const std::vector<TaskTensor>& outer,
                                           const RecipePath& path, const RecipeSetting& setting) {
  const ExpandedRecipe expanded = expand(recipe, task, outer.size(), context.tasks, setting);
  require_within_limit(expanded, context, outer.size());
  std::vector<TaskTensor> known = outer;
  known.insert(known.end(), expanded.temporaries.begin(), expanded.temporaries.end());
  PartialRecipe start;
  start.candidate.name = recipe.name;
  start.candidate.way = recipe.name;
  if (!setting.tunables.empty()) start.candidate.name += " " + print_tunables(setting.tunables);
  start.candidate.temporaries = expanded.temporaries;
  std::vector<PartialRecipe> whole{start};
  RecipePath inside = path;
  inside.push_back(recipe.name);
  for (const auto& step : expanded.steps) {
    CandidateList parts =
        list_step(recipe.steps[step.step].kernel, step.task, context, known, inside);
    // Later slabs must find the kernel that the first one took.
    if (step.slab <= 0) drop_slower(parts.candidates);
    if (parts.candidates.empty()) {
      throw UnsupportedError(
          "its step " + step.task.bound.problem.family.name() + " has no kernel" +
          (parts.rejections.empty()
               ? ""
               : ": " + parts.rejections[0].name + " " + parts.rejections[0].why));
    }
    const StepWays next{step, parts.candidates, outer.size(), expanded.temporaries.size()};
    if (whole.front().taken.contains(step.step)) {
      follow(whole, next);
    } else {
      whole = branched(whole, next);
    }
    keep_cheapest(whole);
    if (whole.empty()) {
      throw UnsupportedError("no kernel of its step " + step.task.bound.problem.family.name() +
                             " computes the last slab as well as the others");
    }
  }
  std::vector<Candidate> candidates;
  for (auto& way : whole) candidates.push_back(std::move(way.candidate));
  return candidates;
}

/// Adds those of `found` to `kept` that are new there and within the workspace limit; returns the
/// fewest bytes that one beyond the limit takes, 0 where all are within.
std::int64_t keep_within_limit(std::vector<Candidate>& kept, std::vector<Candidate> found,
                               const PlanContext& context, std::size_t known) {
  std::int64_t beyond = 0;
  for (Candidate& candidate : found) {
    if (std::ranges::find(kept, candidate.name, &Candidate::name) != kept.end()) continue;
    const std::int64_t bytes = live_temporary_bytes(candidate, known, context.device);
    if (bytes <= context.workspace_limit_bytes) {
      kept.push_back(std::move(candidate));
    } else {
      beyond = beyond == 0 ? bytes : std::min(beyond, bytes);
    }
  }
  return beyond;
}

/// All ways through the recipe under these values of its tunables, each in as few slabs as keep its
/// temporaries within the workspace limit and its steps within what kernels can do.
std::vector<Candidate> candidates_with(const Environment& tunables, const Recipe& recipe,
                                       const Task& task, const PlanContext& context,
                                       const std::vector<TaskTensor>& outer,
                                       const RecipePath& path) {
  const std::int64_t most = std::min(most_slabs(recipe, task, tunables), kMostSlabs);
  RecipeSetting setting{1, tunables, environment_of(context.device)};
  std::vector<Candidate> kept;
  for (int doublings = 0;; setting.slab_count = std::min(2 * setting.slab_count, most)) {
    const bool is_last = setting.slab_count >= most;
    try {
      const std::int64_t beyond =
          keep_within_limit(kept, candidates_in_slabs(recipe, task, context, outer, path, setting),
                            context, outer.size());
      if (beyond == 0) return kept;
      if (is_last && kept.empty()) throw exceeds_limit(beyond, context);
    } catch (const UnsupportedError&) {
      if (is_last && kept.empty()) throw;
    }
    if (is_last) return kept;
    // Formats that pad and copies take a few times what others do.
    if (!kept.empty() && doublings++ == kMostDoublings) return kept;
  }
}

/// Adds the ways of `more` to `ways`; of two that run the same kernels the cheaper one stays.
void merge_cheapest(std::vector<Candidate>& ways, std::vector<Candidate> more) {
  for (Candidate& candidate : more) {
    const auto same = std::ranges::find_if(ways, [&](const Candidate& known) {
      return std::ranges::equal(known.kernels, candidate.kernels, {}, &KernelChoice::entry,
                                &KernelChoice::entry);
    });
    if (same == ways.end()) {
      ways.push_back(std::move(candidate));
    } else if (kernels_us(candidate) < kernels_us(*same)) {
      *same = std::move(candidate);
    }
  }
}

/// All ways through the recipe, each with the values of its tunables that make it cheapest.
std::vector<Candidate> recipe_candidates(const Recipe& recipe, const Task& task,
                                         const PlanContext& context,
                                         const std::vector<TaskTensor>& outer,
                                         const RecipePath& path) {
  const auto set = context.options.tunables.find(recipe.name);
  const Environment given = set == context.options.tunables.end() ? Environment{} : set->second;
  std::vector<Candidate> ways;
  std::string reason;
  for (const Environment& tunables : tunable_values(recipe, given)) {
    try {
      merge_cheapest(ways, candidates_with(tunables, recipe, task, context, outer, path));
    } catch (const UnsupportedError& error) {
      const std::string with = tunables.empty() ? "" : "with " + print_tunables(tunables) + ", ";
      if (reason.empty()) reason = with + error.what();
    }
  }
  if (ways.empty()) throw UnsupportedError(reason);
  return ways;
}

/// Every entry and recipe of the task's own family.
CandidateList list_family(const Task& task, const PlanContext& context,
                          const std::vector<TaskTensor>& outer, const RecipePath& path) {
  CandidateList list;
  const Family family = task.bound.problem.family;
  const TaskPlace place{path, context.decision};
  for (const auto& [entry, why_not] : context.policy.entries_for(family, place)) {
    if (packs_one_layout(*entry)) {
      list.rejections.push_back({entry->name, "it packs one layout, and a step's reader names it"});
      continue;
    }
    if (!why_not.empty()) {
      list.rejections.push_back({entry->name, why_not});
      continue;
    }
    try {
      list.candidates.push_back(entry_candidate(*entry, task, context, outer));
    } catch (const UnsupportedError& error) {
      list.rejections.push_back({entry->name, error.what()});
    }
  }
  for (const auto& [recipe, why_not] : context.policy.recipes_for(family, place)) {
    if (!why_not.empty()) {
      list.rejections.push_back({recipe->name, why_not});
      continue;
    }
    try {
      for (auto& candidate : recipe_candidates(*recipe, task, context, outer, path)) {
        list.candidates.push_back(std::move(candidate));
      }
    } catch (const UnsupportedError& error) {
      list.rejections.push_back({recipe->name, error.what()});
    }
  }
  return list;
}

CandidateList list_within(const Task& task, const PlanContext& context,
                          const std::vector<TaskTensor>& outer, const RecipePath& path) {
  CandidateList list;
  bool wanted = false;
  const auto at = [&](int id) -> const TaskTensor& { return tensor_at(id, context.tasks, outer); };
  const bool whole_only = context.options.use.contains(task.bound.problem.family);
  for (const auto& bound : narrowed(task.bound, at)) {
    const bool asked = context.options.use.contains(bound.problem.family);
    if (whole_only && !asked) continue;
    wanted = wanted || asked;
    CandidateList found = list_family({task.name, bound}, context, outer, path);
    std::move(found.candidates.begin(), found.candidates.end(),
              std::back_inserter(list.candidates));
    std::move(found.rejections.begin(), found.rejections.end(),
              std::back_inserter(list.rejections));
  }
  if (wanted) return list;
  CandidateList found = list_family(task, context, outer, path);
  std::move(found.candidates.begin(), found.candidates.end(), std::back_inserter(list.candidates));
  std::move(found.rejections.begin(), found.rejections.end(), std::back_inserter(list.rejections));
  return list;
}

}  // namespace

CandidateList list_candidates(const Task& task, const PlanContext& context) {
  CandidateList list = list_within(task, context, {}, {});
  for (auto& candidate : list.candidates) settle(candidate, context);
  std::stable_sort(
      list.candidates.begin(), list.candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.estimated_us < b.estimated_us; });
  if (!list.candidates.empty()) return list;
  std::string reasons;
  for (const auto& rejection : list.rejections) {
    reasons += "\n  " + rejection.name + ": " + rejection.why;
  }
  const Family family = task.bound.problem.family;
  if (const std::string wanted = context.policy.wanted_for(family); !wanted.empty()) {
    throw UsageError("--use " + family.name() + "=" + wanted + " cannot compute " + task.name +
                     (reasons.empty() ? ": no such kernel or recipe" : reasons));
  }
  throw UnsupportedError("plan: no kernel computes " + task.name + " (" +
                         print(task.bound.problem) + ") on this device" + reasons);
}

}  // namespace morton::plan
