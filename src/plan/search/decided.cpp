// SPDX-License-Identifier: Apache-2.0
#include "plan/search/decided.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/search/choose.hpp"

namespace morton::plan {
namespace {

/// A recipe's slabs launch a kernel several times; it is decided once.
std::vector<DecidedKernel> kernels_of(const Candidate& candidate) {
  std::vector<DecidedKernel> kernels;
  for (const KernelChoice& choice : candidate.kernels) {
    DecidedKernel kernel{choice.entry->name, *choice.tunables};
    if (std::ranges::find(kernels, kernel) == kernels.end()) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

/// The ways to compute the task that are as `decision` says.
CandidateList list_decided(const TaskDecision& decision, const Task& task,
                           const PlanContext& context) {
  PlanContext within = context;
  within.decision = &decision;
  CandidateList list = find_candidates(task, within);
  if (list.candidates.empty()) {
    Reason none = no_candidate(task, std::move(list.rejections));
    list.rejections = {{print(decision), std::move(none)}};
  }
  std::erase_if(list.candidates, [&](const Candidate& candidate) {
    return kernels_of(candidate) != decision.kernels;
  });
  // The same kernels used in another way may do, where they are built for what that way gives them.
  const auto is_another_way = [&](const Candidate& candidate) {
    return candidate.way != decision.way;
  };
  if (!std::ranges::all_of(list.candidates, is_another_way)) {
    std::erase_if(list.candidates, is_another_way);
  }
  if (list.candidates.empty()) {
    list.rejections.push_back({print(decision), NotConsidered{NotConsidered::Why::other_steps}});
  }
  return list;
}

const std::vector<TaskDecision>* decisions_for(const std::string& task,
                                               const PlanContext& context) {
  if (context.options.built == nullptr) return nullptr;
  const auto& decisions = context.options.built->decisions;
  const auto found = decisions.find(task);
  return found == decisions.end() ? nullptr : &found->second;
}

}  // namespace

CandidateList find_allowed(const Task& task, const PlanContext& context) {
  const std::vector<TaskDecision>* decisions = decisions_for(task.name, context);
  const bool refuse = context.options.missing == PlanOptions::Missing::refuse;
  if (context.options.built == nullptr || (decisions == nullptr && !refuse)) {
    return find_candidates(task, context);
  }
  CandidateList list;
  for (std::size_t d = 0; decisions != nullptr && d < decisions->size(); ++d) {
    CandidateList found = list_decided((*decisions)[d], task, context);
    std::ranges::move(found.candidates, std::back_inserter(list.candidates));
    std::ranges::move(found.rejections, std::back_inserter(list.rejections));
  }
  if (!list.candidates.empty()) {
    list.rejections.push_back({"others", OnlyBuilt{}});
    return list;
  }
  return refuse ? list : find_candidates(task, context);
}

void throw_none_allowed(const Task& task, const PlanContext& context,
                        const std::vector<Rejection>& rejections) {
  const bool only_built =
      context.options.built != nullptr && context.options.missing == PlanOptions::Missing::refuse;
  if (!only_built) throw error_of(no_candidate(task, rejections));
  UnsupportedError error("plan: none of the kernels that are built computes " + task.name + " (" +
                         print(task.bound.problem) +
                         "); compile the model with these shapes too, or let it build" +
                         lines_of(rejections));
  error.set_rejected(rejected_kernels(rejections));
  throw error;
}

void keep_decided_formats(Indexed<TensorId, Formats>& wishes, const PlanContext& context) {
  for (const Task& task : context.tasks.tasks) {
    const std::vector<TaskDecision>* decisions = decisions_for(task.name, context);
    if (decisions == nullptr) continue;
    std::set<std::string> allowed;
    for (const TaskDecision& decision : *decisions) allowed.insert(decision.format);
    wishes[tensor_of(task.bound, "dst")].keep(
        [&](const Arrangement& format) { return allowed.contains(format_text(format)); });
  }
}

std::map<std::string, TaskDecision> decisions_of(const CandidateLists& candidates,
                                                 const Selections& selections,
                                                 const TaskList& tasks) {
  std::map<std::string, TaskDecision> decisions;
  for (const TaskId t : selections.ids()) {
    const Candidate& candidate = candidates[t]->candidates[selections[t].candidate];
    decisions[tasks.tasks[t].name] = {candidate.way, kernels_of(candidate),
                                      format_text(selections[t].output)};
  }
  return decisions;
}

std::string print(const TaskDecision& decision) {
  std::string text = decision.way;
  for (const DecidedKernel& kernel : decision.kernels) {
    const std::string values = print_tunables(kernel.tunables);
    if (!values.empty()) text += ", " + kernel.entry + " " + values;
  }
  return text;
}

void check_built(const Plan& plan, const PlanOptions& options) {
  if (options.built == nullptr || options.missing == PlanOptions::Missing::build) return;
  std::string missing;
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      const KernelLaunch* launch = step.launch();
      if (launch == nullptr) continue;
      const InstanceSource& instance = plan.instances[launch->instance];
      if (options.built->instances.contains(instance.key)) continue;
      missing += "\n  " + step.name + ": " + step.kernel;
    }
  }
  if (missing.empty()) return;
  throw UnsupportedError(
      "plan: for these shapes kernels would have to be built; compile the model with these shapes "
      "too, or let it build:" +
      missing);
}

}  // namespace morton::plan
