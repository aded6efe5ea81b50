// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/kernel/plan_context.hpp"
#include "plan/policy/rejection.hpp"
#include "plan/tasks/tasks.hpp"

namespace morton::plan {

/// A step of a recipe as a task.
struct ExpandedStep {
  Task task;
  std::size_t step = 0;  ///< index into the recipe's steps
  int slab = -1;         ///< -1 for a step that runs once
};

/// A recipe's steps as tasks, bound to the task's tensors and to the recipe's temporaries, whose
/// ids are kFirstTemporary + `known` and following. Every slab has temporaries of its own, whose
/// lifetimes are apart.
struct ExpandedRecipe {
  Temporaries temporaries;
  std::vector<ExpandedStep> steps;
};

/// How a recipe is expanded.
struct RecipeSetting {
  std::int64_t slab_count = 1;          ///< about this many
  Environment tunables;                 ///< a value for each of the recipe's
  const Environment* device = nullptr;  ///< facts that its `require` may use
};

/// Every combination of the values of the recipe's tunables, those that `set` gives kept to; one
/// empty environment for a recipe without tunables.
[[nodiscard]] std::vector<Environment> tunable_values(const Recipe& recipe, const Environment& set);
/// Expands `recipe` for `task`. `known` temporaries exist already. There is a reason why not where
/// a condition of its `require` does not hold. Throws ModelError when the recipe contradicts
/// itself.
[[nodiscard]] OrReason<ExpandedRecipe> expand(const Recipe& recipe, const Task& task,
                                              std::size_t known, const TaskList& tasks,
                                              const RecipeSetting& setting);
/// Bytes of the temporaries that may live at the same time.
[[nodiscard]] std::int64_t workspace_bytes(const ExpandedRecipe& expanded, std::size_t known);
/// The number of slabs beyond which they get no shorter, under these values of its tunables.
[[nodiscard]] OrReason<std::int64_t> most_slabs(const Recipe& recipe, const Task& task,
                                                const Environment& tunables);

}  // namespace morton::plan
