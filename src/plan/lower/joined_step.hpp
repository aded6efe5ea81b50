// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// A step with the kernel that it launches, before the plan numbers its instances.
struct EmittedStep {
  Step step;
  std::optional<InstanceSpec> spec;  ///< of one kernel
  InstanceSource source;             ///< of kernels, joined ones too
};

/// How many work-groups the launch has along a dimension, and work-items in all.
[[nodiscard]] std::int64_t groups_of(const KernelLaunch& launch, std::size_t dimension);
[[nodiscard]] std::int64_t work_items_of(const KernelLaunch& launch);

/// One step of two or more small kernels (source/joined.hpp); a launch takes `launch_us`.
[[nodiscard]] EmittedStep joined_step(std::vector<const EmittedStep*> members, double launch_us);

/// Likewise of equal kernels (generate_stacked), one above the other in the third dimension.
[[nodiscard]] EmittedStep stacked_step(const std::vector<const EmittedStep*>& members,
                                       double launch_us);

}  // namespace morton::plan
