// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"
#include "plan/search/choose.hpp"

namespace morton::plan {

/// A kernel with the values that it runs on.
struct ScheduledKernel {
  KernelChoice choice;
  std::map<std::string, ValueId> values;  ///< by operand
  std::vector<ValueId> sides;
  TaskId task;        ///< none for a repacking step
  bool once = false;  ///< reads fixed values only and runs when the plan is loaded
};

/// The chosen kernels in order, with the repacking steps that their formats make necessary.
struct Schedule {
  Values values;
  std::vector<ScheduledKernel> kernels;
  std::vector<Port> inputs, outputs, states;
  double estimated_us = 0.0;
};

/// Lays out the run for these selections, one for each task.
[[nodiscard]] Schedule make_schedule(const CandidateLists& candidates, const Selections& selections,
                                     const PlanContext& context);

}  // namespace morton::plan
