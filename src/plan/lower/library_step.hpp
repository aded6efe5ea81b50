// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/rooms.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// True for an entry whose library computes on the host.
[[nodiscard]] bool runs_on_host(const Entry& entry);

/// Why not, where the entry's library is not in this build. Entries with a source pass.
[[nodiscard]] std::optional<Reason> missing_library(const Entry& entry, const PlanOptions& options);

/// Why not, of an entry that runs on the host and that `options.use` does not name, where
/// `options.host_steps` wants it named and where nobody measured its cost beside this device.
[[nodiscard]] std::optional<Reason> why_not_on_host(const Entry& entry, const DeviceInfo& device,
                                                    const PlanOptions& options);

/// The step that calls the routine of the kernel's entry: its operands in the order of the family,
/// what it starts from if anything, then its extents and structure by name.
[[nodiscard]] Step library_step(const ScheduledKernel& kernel, const std::vector<Value>& values,
                                const DeviceInfo& device);

}  // namespace morton::plan
