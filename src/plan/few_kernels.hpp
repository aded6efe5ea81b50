// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "morton/message.hpp"
#include "plan/search/choose.hpp"

namespace morton::plan {

/// The share of a network's time that a further kernel must save on a CPU: PoCL compiles each for a
/// third of a second or more before the first run.
inline constexpr double kShareOfKernel = 0.01;

/// What is chosen, and what was left out for it.
struct FewKernels {
  Selections selections;
  std::vector<Message> left_out;  ///< for PlanDetail::why
};

/// As choose. For a CPU, entries that save too little are then left out, one after the other. Too
/// little is less than kShareOfKernel of the network's estimated time for each kernel, copies' too,
/// that only they make necessary.
[[nodiscard]] FewKernels choose_few_kernels(const CandidateLists& candidates,
                                            const PlanContext& context);

}  // namespace morton::plan
