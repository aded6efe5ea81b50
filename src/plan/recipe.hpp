// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "catalogue/catalogue.hpp"
#include "plan/tasks.hpp"

namespace morton {

/// A recipe's steps as tasks, bound to the task's tensors and to the recipe's temporaries, whose
/// ids are kFirstTemporary + `known` and following.
struct ExpandedRecipe {
  std::vector<TaskTensor> temporaries;
  std::vector<Task> steps;
};

/// Expands `recipe` for `task`. `known` temporaries exist already. Throws UnsupportedError when a
/// condition of its `require` does not hold, ModelError when the recipe contradicts itself.
[[nodiscard]] ExpandedRecipe expand(const Recipe& recipe, const Task& task, std::size_t known);

}  // namespace morton
