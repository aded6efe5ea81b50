// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/candidates.hpp"

namespace morton {

/// The problem of copying a tensor into a demanded arrangement; `view` is the operand's in
/// `problem`, used for a demand of kind `packed`.
[[nodiscard]] BoundProblem pack_problem(int source, int copy, const View& view,
                                        const Arrangement& arrangement, const Problem& problem,
                                        Demand::Kind kind);

/// Time of copying from one arrangement to another.
[[nodiscard]] double repack_cost_us(const Arrangement& from, const Arrangement& to,
                                    const PlanContext& context);

}  // namespace morton
