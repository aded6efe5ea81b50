// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// Adds up the time of a whole candidate, repacking between its own kernels included.
void add_up(Candidate& candidate, const PlanContext& context);

/// How a temporary of a whole candidate lies in memory: in its producer's format, else its
/// consumer's, else row-major.
[[nodiscard]] Arrangement arrangement_of_temporary(const Candidate& candidate, std::size_t index);

/// Bytes of the candidate's temporaries that live at one time at most, each with the padding of its
/// format and at the device's alignment, and of the copies that its own kernels are given in
/// another format. `known` temporaries exist around it: its own have the ids behind theirs.
[[nodiscard]] std::int64_t live_temporary_bytes(const Candidate& candidate, std::size_t known,
                                                const DeviceInfo& device);

}  // namespace morton::plan
