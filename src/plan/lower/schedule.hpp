// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// What is chosen for one task.
struct Selection {
  std::size_t candidate = 0;
  /// How the result lies in memory, where the candidate's last kernel leaves that open.
  Arrangement output;
};

/// A kernel with the values that it runs on.
struct ScheduledKernel {
  KernelChoice choice;
  std::map<std::string, int> values;  ///< by operand
  std::vector<int> sides;
  int task = -1;      ///< -1 for a repacking step
  bool once = false;  ///< reads fixed values only and runs when the plan is loaded
};

/// The chosen kernels in order, with the repacking steps that their formats make necessary.
struct Schedule {
  std::vector<Value> values;
  std::vector<ScheduledKernel> kernels;
  std::vector<std::pair<std::string, int>> inputs, outputs, states;
  double estimated_us = 0.0;
};

/// Lays out the run for these selections, one for each task.
[[nodiscard]] Schedule make_schedule(const CandidateLists& candidates,
                                     const std::vector<Selection>& selections,
                                     const PlanContext& context);

/// The selections that make the estimated time of the whole network least: exact over chains,
/// improved by iteration where paths join (ARCHITECTURE.md, "The plan").
[[nodiscard]] std::vector<Selection> choose(const CandidateLists& candidates,
                                            const PlanContext& context);

}  // namespace morton::plan
