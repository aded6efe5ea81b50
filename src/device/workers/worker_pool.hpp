// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/processes/worker_process.hpp"
#include "base/rooms.hpp"

namespace morton::device {

/// A worker ends by itself when nobody has asked it for so long.
inline constexpr std::chrono::seconds kWorkerWaits{5};

/// A process of this program and environment that `keep_worker` was given a moment ago, or a new
/// one, which starts when it is asked first. The first kernel of a process costs PoCL most of a
/// second more than the next ones. Thread-safe.
[[nodiscard]] std::unique_ptr<WorkerProcess> take_worker(const std::string& helper);

/// Leaves a process, whose last answer was read, to who takes one next. It ends by itself when
/// nobody does, and at the latest with this process. Thread-safe.
void keep_worker(const std::string& helper, std::unique_ptr<WorkerProcess> worker);

}  // namespace morton::device
