// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "morton/model.hpp"
#include "morton/tensor.hpp"
#include "morton/tools/problems.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::tools {

/// Whether `model_of` poses problems of the family.
[[nodiscard]] bool can_be_posed(Family family);

/// A graph that poses just this problem: a product of "lhs" and "rhs", or an image "src" through a
/// convolution with "weights", a pool, or both; its output is "dst". Throws UnsupportedError for
/// problems of other families or types, and for those that no graph poses so.
[[nodiscard]] Model model_of(const TunedProblem& problem);

/// The same with these inputs as constants: packing them then belongs to loading.
[[nodiscard]] Model with_constants(const Model& model, const std::vector<NamedTensor>& constants);

/// The problem as the planner sees it. Throws as model_of.
[[nodiscard]] BoundProblem bound_of(const TunedProblem& problem);

/// The problems that a plan may pose in place of this one, a convolution with the pool behind it:
/// both apart. None for other families.
[[nodiscard]] std::vector<TunedProblem> parts_of(const TunedProblem& problem);

/// The product as tuning data names it.
[[nodiscard]] TunedProblem problem_of(const GemmShape& shape);

/// The shape behind a record's problem. Throws UnsupportedError for what is no product.
[[nodiscard]] GemmShape shape_of(const TunedProblem& problem);

/// Operations of one run, as the entry counts them: without padding.
[[nodiscard]] double flop_of(const Entry& entry, const Problem& problem, const DeviceInfo& device);

}  // namespace morton::tools
