// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// Why the schedule has this kernel.
[[nodiscard]] std::string reason_of(const ScheduledKernel& kernel,
                                    const CandidateLists& candidates);

/// With which values the kernel is built, where they are from, and why the work-group `local` that
/// was asked for does not apply.
[[nodiscard]] Message build_note(const KernelChoice& choice,
                                 const std::vector<std::int64_t>& local);

/// For each task, its candidates with their times, and what was rejected and why.
[[nodiscard]] std::vector<Message> considered(const CandidateLists& candidates,
                                              const TaskList& tasks);

}  // namespace morton::plan
