// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// The entry as a way to compute the task: alone where it carries the epilogue; else followed by an
/// elementwise step for it. A routine that adds to its dst (Entry::adds_to_start) carries a leading
/// sum with one number for each place along a dimension (a bias): a pack spreads the numbers over
/// dst's shape, at loading where they are constant. `outer` are the temporaries around the task.
/// Throws UnsupportedError with the reason why the entry cannot.
[[nodiscard]] Candidate entry_candidate(const Entry& entry, const Task& task,
                                        const PlanContext& context,
                                        const std::vector<TaskTensor>& outer);

}  // namespace morton::plan
