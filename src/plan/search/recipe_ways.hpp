// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// A task, the temporaries around it, and the recipes that it is a step of.
struct PosedTask {
  const Task& task;
  const Temporaries& outer;
  const RecipePath& path;
};

/// All ways to compute the task, those of narrower families included. They are not settled, and
/// nothing is thrown where there is none.
[[nodiscard]] CandidateList list_within(const PosedTask& posed, const PlanContext& context);

/// All ways through the recipe, each with the values of its tunables that make it cheapest; or why
/// there is none.
[[nodiscard]] OrReason<std::vector<Candidate>> recipe_ways(const Recipe& recipe,
                                                           const PosedTask& posed,
                                                           const PlanContext& context);

}  // namespace morton::plan
