// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/rooms.hpp"
#include "morton/session.hpp"
#include "plan/single/example_problem.hpp"

namespace morton::tools {

/// Sizes at which kernels of a family are checked, in place of an example's: small, and multiples
/// of no tile. Empty where the example's are small.
[[nodiscard]] Environment sizes_to_check(std::string_view family);

/// What the operands that a problem reads hold, by role: halves and sixteenths that few sums round,
/// bytes of any value, indices that are within their extents and all different.
[[nodiscard]] std::vector<NamedTensor> operands_to_check(const PosedProblem& posed);

}  // namespace morton::tools
