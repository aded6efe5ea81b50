// SPDX-License-Identifier: Apache-2.0
#include "plan/search/recipe_ways.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "plan/kernel/entry_table.hpp"
#include "plan/kernel/kernel_choice.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/search/partial_recipe.hpp"
#include "plan/search/recipe.hpp"
#include "plan/search/settle.hpp"

namespace morton::plan {
namespace {

/// Each slab is planned by itself and launches kernels of its own.
constexpr std::int64_t kMostSlabs = 256;
/// How often the slabs are halved for the ways that are beyond the workspace limit where others are
/// within it.
constexpr int kMostDoublings = 2;

/// True for a single kernel that takes and leaves its operands wherever they lie.
bool is_free_of_formats(const Candidate& candidate) {
  return candidate.kernels.size() == 1 && candidate.temporaries.empty() &&
         std::ranges::all_of(candidate.kernels[0].demands, [](const auto& demand) {
           return demand.second.kind == Demand::Kind::any;
         });
}

/// Of such kernels that leave the same padding only time tells them apart: the slower ones go.
void drop_slower(std::vector<Candidate>& candidates) {
  std::map<PaddingContents, double> fastest_us;
  const auto padding_of = [](const Candidate& candidate) {
    return candidate.kernels[0].entry->operands.at("dst").padding;
  };
  for (const Candidate& candidate : candidates) {
    if (!is_free_of_formats(candidate)) continue;
    const double us = kernels_us(candidate);
    double& fastest = fastest_us.try_emplace(padding_of(candidate), us).first->second;
    fastest = std::min(fastest, us);
  }
  if (fastest_us.empty()) return;
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return is_free_of_formats(candidate) &&
           fastest_us.at(padding_of(candidate)) < kernels_us(candidate);
  });
}

/// All ways to take one step of a recipe, which may name its kernel.
CandidateList list_step(const std::string& kernel, const PosedTask& posed,
                        const PlanContext& context) {
  if (kernel.empty()) return list_within(posed, context);
  const KernelPolicy policy =
      context.policy.with_step_kernel(posed.task.bound.problem.family, kernel);
  return list_within(posed, PlanContext(context, policy));
}

Reason no_way_for(Family family, std::vector<Rejection> rejections) {
  NoWayForStep reason{family, nullptr};
  if (!rejections.empty()) {
    reason.first = std::make_shared<const Rejection>(std::move(rejections.front()));
  }
  return reason;
}

/// All ways through the recipe as `setting` says.
OrReason<std::vector<Candidate>> ways_in_slabs(const Recipe& recipe, const PosedTask& posed,
                                               const PlanContext& context,
                                               const RecipeSetting& setting) {
  const std::size_t outer = posed.outer.size();
  OrReason<ExpandedRecipe> found = expand(recipe, posed.task, outer, context.tasks, setting);
  if (auto* reason = std::get_if<Reason>(&found)) return std::move(*reason);
  const auto& expanded = std::get<ExpandedRecipe>(found);
  // What no format takes less than.
  const std::int64_t bytes = workspace_bytes(expanded, outer);
  const std::int64_t limit = context.workspace_limit_bytes;
  if (bytes > limit) return TooMuchWorkspace{bytes, limit};
  Temporaries known = posed.outer;
  known.append(expanded.temporaries);
  PartialRecipe start;
  if (recipe.slabs) start.taken.resize(recipe.steps.size());
  start.candidate.name = recipe.name;
  start.candidate.way = recipe.name;
  if (!setting.tunables.empty()) start.candidate.name += " " + print_tunables(setting.tunables);
  start.candidate.temporaries = expanded.temporaries;
  std::vector<PartialRecipe> whole{std::move(start)};
  RecipePath inside = posed.path;
  inside.push_back(recipe.name);
  for (const auto& step : expanded.steps) {
    CandidateList parts =
        list_step(recipe.steps[step.step].kernel, {step.task, known, inside}, context);
    // Later slabs must find the kernel that the first one took.
    if (step.slab <= 0) drop_slower(parts.candidates);
    const Family family = step.task.bound.problem.family;
    if (parts.candidates.empty()) return no_way_for(family, std::move(parts.rejections));
    const StepWays next{step, parts.candidates, outer, expanded.temporaries.size()};
    if (!recipe.slabs || whole.front().taken[step.step].empty()) {
      whole = branched(whole, next);
    } else {
      follow(whole, next);
    }
    if (whole.empty()) return OtherLastSlab{family};
  }
  std::vector<Candidate> candidates;
  candidates.reserve(whole.size());
  for (auto& way : whole) candidates.push_back(std::move(way.candidate));
  return candidates;
}

/// Adds those of `found` to `kept` that are new there and within the workspace limit; returns the
/// fewest bytes that one beyond the limit takes, 0 where all are within.
std::int64_t keep_within_limit(std::vector<Candidate>& kept, std::vector<Candidate> found,
                               const PlanContext& context, std::size_t known) {
  std::int64_t beyond = 0;
  kept.reserve(kept.size() + found.size());
  std::unordered_set<std::string_view> names;  // of the kept ones, which stay where they are
  for (const Candidate& candidate : kept) names.insert(candidate.name);
  for (Candidate& candidate : found) {
    if (names.contains(candidate.name)) continue;
    const std::int64_t bytes = live_temporary_bytes(candidate, known, context.device);
    if (bytes <= context.workspace_limit_bytes) {
      names.insert(kept.emplace_back(std::move(candidate)).name);
    } else {
      beyond = beyond == 0 ? bytes : std::min(beyond, bytes);
    }
  }
  return beyond;
}

/// All ways through the recipe under these values of its tunables, each in as few slabs as keep its
/// temporaries within the workspace limit and its steps within what kernels can do.
OrReason<std::vector<Candidate>> ways_with(const Environment& tunables, const Recipe& recipe,
                                           const PosedTask& posed, const PlanContext& context) {
  const OrReason<std::int64_t> slabs = most_slabs(recipe, posed.task, tunables);
  if (const auto* reason = std::get_if<Reason>(&slabs)) return *reason;
  const std::int64_t most = std::min(std::get<std::int64_t>(slabs), kMostSlabs);
  RecipeSetting setting{1, tunables, &context.entries->device_names()};
  std::vector<Candidate> kept;
  for (int doublings = 0;; setting.slab_count = std::min(2 * setting.slab_count, most)) {
    const bool is_last = setting.slab_count >= most;
    OrReason<std::vector<Candidate>> found = ways_in_slabs(recipe, posed, context, setting);
    if (auto* reason = std::get_if<Reason>(&found)) {
      if (is_last && kept.empty()) return std::move(*reason);
    } else {
      const std::int64_t beyond = keep_within_limit(
          kept, std::get<std::vector<Candidate>>(std::move(found)), context, posed.outer.size());
      if (beyond == 0) return kept;
      if (is_last && kept.empty()) return TooMuchWorkspace{beyond, context.workspace_limit_bytes};
    }
    if (is_last) return kept;
    // Formats that pad and copies take a few times what others do.
    if (!kept.empty() && doublings++ == kMostDoublings) return kept;
  }
}

/// The ways through a recipe; of two that run the same kernels the cheaper one.
class CheapestWays {
 public:
  void merge(std::vector<Candidate> more) {
    for (Candidate& candidate : more) {
      const auto [same, is_new] = places_.try_emplace(entries_of(candidate), ways_.size());
      if (is_new) {
        ways_.push_back(std::move(candidate));
      } else if (Candidate& known = ways_[same->second];
                 kernels_us(candidate) < kernels_us(known)) {
        known = std::move(candidate);
      }
    }
  }
  [[nodiscard]] std::vector<Candidate> take() { return std::move(ways_); }

 private:
  static std::vector<const Entry*> entries_of(const Candidate& candidate) {
    std::vector<const Entry*> entries;
    entries.reserve(candidate.kernels.size());
    for (const KernelChoice& kernel : candidate.kernels) entries.push_back(kernel.entry);
    return entries;
  }

  std::vector<Candidate> ways_;
  std::map<std::vector<const Entry*>, std::size_t> places_;
};

}  // namespace

OrReason<std::vector<Candidate>> recipe_ways(const Recipe& recipe, const PosedTask& posed,
                                             const PlanContext& context) {
  const auto set = context.options.tunables.find(recipe.name);
  const Environment given = set == context.options.tunables.end() ? Environment{} : set->second;
  CheapestWays ways;
  std::optional<Reason> first;
  for (const Environment& tunables : tunable_values(recipe, given)) {
    OrReason<std::vector<Candidate>> found = ways_with(tunables, recipe, posed, context);
    auto* reason = std::get_if<Reason>(&found);
    if (reason == nullptr) {
      ways.merge(std::get<std::vector<Candidate>>(std::move(found)));
    } else if (!first && tunables.empty()) {
      first = std::move(*reason);
    } else if (!first) {
      Rejection rejection{recipe.name, std::move(*reason)};
      first = WithValues{tunables, std::make_shared<const Rejection>(std::move(rejection))};
    }
  }
  std::vector<Candidate> found = ways.take();
  if (found.empty()) return std::move(first).value();
  return found;
}

}  // namespace morton::plan
