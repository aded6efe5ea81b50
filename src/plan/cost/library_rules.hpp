// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/rejection.hpp"

namespace morton::plan {

/// True for an entry whose library computes on the host.
[[nodiscard]] bool runs_on_host(const Entry& entry);

/// Why not, where the entry's library is not in this build. Entries with a source pass.
[[nodiscard]] std::optional<Reason> missing_library(const Entry& entry, const PlanOptions& options);

/// Why not, of an entry that runs on the host and that `options.use` does not name, where
/// `options.host_steps` wants it named and where nobody measured its cost beside this device.
[[nodiscard]] std::optional<Reason> why_not_on_host(const Entry& entry, const DeviceInfo& device,
                                                    const PlanOptions& options);

}  // namespace morton::plan
