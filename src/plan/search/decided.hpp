// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/search/choose.hpp"
#include "plan/search/formats.hpp"

namespace morton::plan {

/// As find_candidates; with PlanOptions::built only those whose kernels were decided for the task
/// at other extents. Where there is none it is as PlanOptions::missing says.
[[nodiscard]] CandidateList find_allowed(const Task& task, const PlanContext& context);

/// Throws the UnsupportedError of a task that find_allowed finds nothing for.
[[noreturn]] void throw_none_allowed(const Task& task, const PlanContext& context,
                                     const std::vector<Rejection>& rejections);

/// Leaves in `wishes` the formats that were decided for each tensor at other extents, where one of
/// them can be.
void keep_decided_formats(Indexed<TensorId, Formats>& wishes, const PlanContext& context);

/// What the selections decide, by task.
[[nodiscard]] std::map<std::string, TaskDecision> decisions_of(const CandidateLists& candidates,
                                                               const Selections& selections,
                                                               const TaskList& tasks);

/// The names of the decided kernels, for messages and keys.
[[nodiscard]] std::string print(const TaskDecision& decision);

/// Throws UnsupportedError where the plan needs kernels that are not built and must not be.
void check_built(const Plan& plan, const PlanOptions& options);

}  // namespace morton::plan
