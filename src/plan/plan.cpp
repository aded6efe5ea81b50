// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include "base/error.hpp"
#include "plan/candidate_memo.hpp"
#include "plan/decided.hpp"
#include "plan/emit.hpp"
#include "plan/in_place.hpp"
#include "plan/schedule.hpp"
#include "plan/tunables.hpp"
#include "plan/use.hpp"
#include "plan/work_group.hpp"

namespace morton {
namespace {

/// The options with full names. Throws UsageError where they name what is not there.
PlanOptions checked(PlanOptions options, const Catalogue& catalogue) {
  options.use = resolve_use(options.use, catalogue);
  for (const auto& name : options.exclude) {
    if (catalogue.find_entry(name) == nullptr && catalogue.find_recipe(name) == nullptr) {
      throw UsageError("--exclude " + name + ": the catalogue has no such kernel or recipe");
    }
  }
  check_work_group(options.local, catalogue);
  check_tunables(options.tunables, catalogue);
  return options;
}

}  // namespace

Plan make_plan(const Graph& graph, const Catalogue& catalogue, const DeviceInfo& device,
               const PlanOptions& options) {
  const PlanOptions resolved = checked(options, catalogue);
  const TaskList tasks = make_tasks(graph);
  const PlanContext context{catalogue, device, resolved, tasks};
  CandidateMemo memo(context);
  std::vector<CandidateList> candidates;
  for (const auto& task : tasks.tasks) candidates.push_back(memo.list(task));
  const auto selections = choose(candidates, context);
  Schedule schedule = make_schedule(candidates, selections, context);
  join_parts(schedule, device);
  write_over_dying(schedule);
  Plan plan = emit(schedule, candidates, context);
  plan.decisions = decisions_of(candidates, selections, tasks);
  verify(plan, device);
  check_built(plan, resolved);
  return plan;
}

int memory_root(const std::vector<Value>& values, int index) {
  while (values[static_cast<std::size_t>(index)].memory_of >= 0) {
    index = values[static_cast<std::size_t>(index)].memory_of;
  }
  return index;
}

std::string_view name_of(PlannedBlock::Kind kind) {
  switch (kind) {
    case PlannedBlock::Kind::weights:
      return "weights";
    case PlannedBlock::Kind::state:
      return "state";
    case PlannedBlock::Kind::activations:
      return "activations";
    case PlannedBlock::Kind::workspace:
      return "workspace";
  }
  return "";
}

std::int64_t block_bytes(const Plan& plan, PlannedBlock::Kind kind) {
  std::int64_t bytes = 0;
  for (const auto& block : plan.blocks) {
    if (block.kind == kind) bytes += block.bytes;
  }
  return bytes;
}

}  // namespace morton
