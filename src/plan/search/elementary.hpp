// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// Where a pack's operands lie.
struct PackEnds {
  const Arrangement& from;
  const Arrangement& to;
};

/// The cheapest entry that packs from and to these arrangements.
[[nodiscard]] OrReason<KernelChoice> choose_pack(const SharedProblem& bound,
                                                 const std::string& name,
                                                 const PlanContext& context,
                                                 const Temporaries& temporaries, PackEnds ends);

/// The cheapest entry that computes a problem of a family of any rank.
[[nodiscard]] OrReason<KernelChoice> choose_elementary(const SharedProblem& bound,
                                                       const std::string& name,
                                                       const PlanContext& context,
                                                       const Temporaries& temporaries);

}  // namespace morton::plan
