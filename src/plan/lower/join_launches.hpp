// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// A step with the kernel that it launches, before the plan numbers its instances.
struct EmittedStep {
  Step step;
  std::optional<InstanceSpec> spec;  ///< of one kernel
  InstanceSource source;             ///< of kernels, joined ones too
};

/// Puts small kernels that do not need each other's results into one launch (source/joined.hpp). A
/// kernel moves to an earlier launch, behind all that it depends on through memory; it is small
/// where its work takes little beside a launch, and what it writes before its time takes little
/// memory. `values` have their names of each other's memory, but no places yet.
[[nodiscard]] std::vector<EmittedStep> join_launches(std::vector<EmittedStep> steps,
                                                     const Values& values,
                                                     const DeviceInfo& device);

}  // namespace morton::plan
