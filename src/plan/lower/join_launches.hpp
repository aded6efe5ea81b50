// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/ir/decision.hpp"
#include "plan/ir/plan.hpp"
#include "plan/lower/joined_step.hpp"

namespace morton::plan {

/// Which kernels share launches.
struct SharedLaunches {
  bool small = false;  ///< kernels whose work takes little beside a launch
  bool equal = false;  ///< kernels of one text and size, with too few work-groups
  /// Of equal ones those alone whose common kernel is among these, where there are any.
  const BuiltKernels* built = nullptr;
};

/// Puts kernels that do not need each other's results into one launch (source/joined.hpp).
///
/// Small ones: a kernel moves to an earlier launch, behind all that it depends on through memory;
/// it is small where its work takes little beside a launch, and what it writes before its time
/// takes little memory.
///
/// Equal ones that follow each other, such as the products that make an encoder's queries, keys and
/// values: each has so few work-groups that compute units are idle at its end, and together they
/// have more.
///
/// `values` have their names of each other's memory, but no places yet.
[[nodiscard]] std::vector<EmittedStep> join_launches(std::vector<EmittedStep> steps,
                                                     const Values& values, const DeviceInfo& device,
                                                     const SharedLaunches& shared);

}  // namespace morton::plan
