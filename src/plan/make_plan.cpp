// SPDX-License-Identifier: Apache-2.0
#include "plan/make_plan.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "base/error.hpp"
#include "plan/few_kernels.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/ir/verify.hpp"
#include "plan/lower/emit.hpp"
#include "plan/lower/in_place.hpp"
#include "plan/lower/join_parts.hpp"
#include "plan/lower/schedule.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/search/candidate_memo.hpp"
#include "plan/search/decided.hpp"
#include "plan/search/join_attention.hpp"
#include "plan/search/join_pools.hpp"
#include "plan/tasks/rounding.hpp"

namespace morton::plan {
namespace {

/// Times that a plan is made anew because all its temporaries together take more than the limit,
/// and the share of the limit that each time leaves.
constexpr int kMostTighter = 8;
constexpr double kTighter = 0.85;

/// `memo` is of this context, or of one that differs from it in its tasks, not in their tensors.
Plan plan_once(const PlanContext& context, CandidateMemo& memo) {
  const DeviceInfo& device = context.device;
  const TaskList& tasks = context.tasks;
  CandidateLists candidates;
  for (const auto& task : tasks.tasks) candidates.add(memo.list(task));
  FewKernels chosen = choose_few_kernels(candidates, context);
  const Selections& selections = chosen.selections;
  Schedule schedule = make_schedule(candidates, selections, context);
  join_parts(schedule, device);
  reuse_dying_operands(schedule);
  Plan plan = emit(schedule, candidates, context);
  plan.decisions = decisions_of(candidates, selections, tasks);
  std::ranges::move(chosen.left_out, std::back_inserter(plan.considered));
  verify(plan, device);
  check_built(plan, context.options);
  return plan;
}

/// The temporaries of one step keep to the limit. Where steps share whole places only, those of all
/// steps together may not: then each gets less, until they do (or take what must live at one time).
/// Where nothing does, the plan that takes least. For a limit that was asked for.
Plan with_less_workspace(Plan plan, const PlanContext& context) {
  const std::int64_t limit = std::max(context.workspace_limit_bytes, plan.largest_live.workspace);
  PlanContext tighter = context;
  std::int64_t bytes = block_bytes(plan, PlannedBlock::Kind::workspace);
  for (int i = 0; i < kMostTighter && bytes > limit; ++i) {
    tighter.workspace_limit_bytes =
        static_cast<std::int64_t>(kTighter * static_cast<double>(tighter.workspace_limit_bytes));
    try {
      CandidateMemo memo(tighter);
      Plan other = plan_once(tighter, memo);
      const std::int64_t other_bytes = block_bytes(other, PlannedBlock::Kind::workspace);
      if (other_bytes >= bytes) continue;
      bytes = other_bytes;
      plan = std::move(other);
    } catch (const UnsupportedError&) {
      break;  // no kernel that is built does with so little
    }
  }
  return plan;
}

/// What may lie in memory as halves, and lies there as f32, since a kernel that writes or reads it
/// has no other type. As Plan::considered.
void add_unrounded(const Rounding& rounding, Plan& plan) {
  if (rounding.tensors == 0) return;
  std::set<std::string> names;
  for (const Value& value : plan.values) {
    const bool may = value.kind == Value::Kind::activation || is_fixed(value);
    const bool is_open = may && value.arrangement.dtype == DType::f32 && !value.memory_of;
    if (is_open && !rounding.kept.contains(value.name)) names.insert(value.name);
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  if (!names.empty())
    plan.considered.emplace_back("f32 in memory, its kernels take no halves: " + list);
}

}  // namespace

Plan make_plan(const Graph& graph, const DeviceInfo& device, const KernelPolicy& policy) {
  TaskList apart = make_tasks(graph);
  const Rounding rounding = mark_rounded(apart, policy.options().precision);
  const std::optional<TensorId> zero = add_zero_mask(apart);
  JoinNotes notes;
  const PlanContext whole(policy, device, apart);
  CandidateMemo memo(whole);
  const TaskList pooled = join_pools(whole, memo, notes);
  const TaskList tasks = join_attention(PlanContext(whole, pooled), zero, memo, notes);
  const PlanContext context(whole, tasks);
  Plan plan = plan_once(context, memo);
  const bool asked = context.options.workspace_limit_bytes && shares_whole_places(device);
  if (asked) plan = with_less_workspace(std::move(plan), context);
  std::ranges::move(notes.considered, std::back_inserter(plan.considered));
  std::ranges::move(lines_of(rounding), std::back_inserter(plan.considered));
  add_unrounded(rounding, plan);
  std::ranges::move(notes.left_out_by_self_tests, std::back_inserter(plan.left_out));
  return plan;
}

Plan make_plan(const Graph& graph, const Catalogue& catalogue, const DeviceInfo& device,
               const PlanOptions& options) {
  return make_plan(graph, device, KernelPolicy(catalogue, options));
}

}  // namespace morton::plan
