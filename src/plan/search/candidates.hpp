// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/name_map.hpp"
#include "base/rooms.hpp"
#include "plan/cost/cost.hpp"
#include "plan/ir/plan.hpp"
#include "plan/kernel/kernel_choice.hpp"
#include "plan/kernel/plan_context.hpp"
#include "plan/kernel/shared_list.hpp"
#include "plan/policy/rejection.hpp"
#include "plan/tasks/tasks.hpp"

namespace morton::plan {

using KernelChoices = SharedList<KernelChoice>;

/// One way to compute a task: a kernel, or the kernels of a recipe, and the elementwise step that
/// carries an epilogue which its kernel does not.
struct Candidate {
  std::string name;       ///< entry or recipe
  std::string way;        ///< entry or recipes on the way to the kernels, the same at all extents
  KernelChoices kernels;  ///< in the order in which they run
  Temporaries temporaries;
  double estimated_us = 0.0;  ///< with the building that its kernels count
};

/// What each run of the candidate is expected to take: its estimate without building.
[[nodiscard]] double run_us(const Candidate& candidate);

struct CandidateList {
  std::vector<Candidate> candidates;  ///< cheapest first
  std::vector<Rejection> rejections;
};

/// All ways to compute the task; without any, why each cannot be. Throws UsageError where the one
/// that is asked for cannot.
[[nodiscard]] CandidateList find_candidates(const Task& task, const PlanContext& context);

/// That nothing computes the task, for these reasons.
[[nodiscard]] Reason no_candidate(const Task& task, std::vector<Rejection> rejections);

/// As find_candidates. Throws UnsupportedError, with the reasons, where there are none.
[[nodiscard]] MORTON_FOR_TOOLS CandidateList list_candidates(const Task& task,
                                                             const PlanContext& context);

}  // namespace morton::plan
