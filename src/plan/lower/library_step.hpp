// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// The step that calls the routine of the kernel's entry: its operands in the order of the family,
/// what it starts from if anything, then its extents and structure by name.
[[nodiscard]] Step library_step(const ScheduledKernel& kernel, const Values& values,
                                const DeviceInfo& device);

}  // namespace morton::plan
