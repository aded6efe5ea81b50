// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "plan/schedule.hpp"

namespace morton {

/// Throws UnsupportedError with what to do where the entry's library is not in this build, and
/// where `options.use` does not name the entry: plans do not depend on what happens to be
/// installed, and a library builds its kernels anew in each process. Entries with a source pass.
void require_library(const Entry& entry, const PlanOptions& options);

/// The step that calls the routine of the kernel's entry: its operands in the order of the family,
/// then its extents by name.
[[nodiscard]] Step library_step(const ScheduledKernel& kernel, const std::vector<Value>& values,
                                const DeviceInfo& device);

}  // namespace morton
