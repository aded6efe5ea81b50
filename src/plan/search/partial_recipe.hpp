// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"
#include "plan/search/recipe.hpp"

namespace morton::plan {

/// A way through the steps of a recipe so far, and, of one in slabs, which candidate it took for
/// each.
struct PartialRecipe {
  Candidate candidate;
  std::vector<std::string> taken;  ///< by the recipe's step: the candidate's name, or none yet
};

/// A step of a recipe, the ways to take it, and how many temporaries are around the recipe and its
/// own.
struct StepWays {
  const ExpandedStep& step;
  const std::vector<Candidate>& parts;
  std::size_t outer = 0, own = 0;
};

/// Time of the candidate's kernels, without that of copies between them.
[[nodiscard]] double kernels_us(const Candidate& candidate);

/// Each way so far with each way to take a step that is new; the cheapest of them where they are
/// very many.
[[nodiscard]] std::vector<PartialRecipe> branched(const std::vector<PartialRecipe>& ways,
                                                  const StepWays& next);

/// The same step of a later slab is computed as the first slab's is; ways that cannot go.
void follow(std::vector<PartialRecipe>& ways, const StepWays& next);

}  // namespace morton::plan
