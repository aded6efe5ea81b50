// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>

#include "base/rooms.hpp"
#include "plan/search/task_candidates.hpp"

namespace morton::plan {

/// What is chosen for one task.
struct Selection {
  std::size_t candidate = 0;
  /// How the result lies in memory, where the candidate's last kernel leaves that open.
  Arrangement output;
};

/// Of each task.
using Selections = Indexed<TaskId, Selection>;

/// Candidates of the lists that may not be chosen.
using LeftOut = std::set<const Candidate*>;

/// The selections that make the estimated time of the whole network least: exact over chains,
/// improved by iteration where paths join. Each task keeps a candidate that is not left out.
[[nodiscard]] Selections choose(const CandidateLists& candidates, const PlanContext& context,
                                const LeftOut& left_out = {});

}  // namespace morton::plan
