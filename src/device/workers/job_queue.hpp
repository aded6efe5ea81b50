// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/workers/kernel_job.hpp"

namespace morton::device {

/// The helper program morton-compile of this library's installation or build,
/// or nothing where there is none. It is looked for beside the library, then beside the program.
[[nodiscard]] std::string compile_helper();

/// How a job ended.
struct JobOutcome {
  enum class End : std::uint8_t {
    built,            ///< the file is there
    built_by_others,  ///< likewise: another process was faster
    failed,
    unkept,  ///< built, but its file could not be written
  } end = End::built;
  std::string problem;  ///< of one that failed or is not kept
  int compiled = 0;     ///< of one that was built: objects that the driver compiled
};

/// Carries out the jobs, the longest sources first, in as many processes as the host has
/// processors; returns how each ended. Processes that want the same file wait for one another, so
/// that one builds it. A process that dies loses its job and no other. `one_done` is called after
/// each job, by one thread at a time. A failed job is an outcome. When `stop` is asked for, and
/// behind a file that could not be written, no more jobs are begun, and those that are left have
/// failed. Throws UsageError where the files' folder can keep nothing.
[[nodiscard]] std::vector<JobOutcome> carry_out_jobs(const std::string& helper,
                                                     const std::vector<KernelJob>& jobs,
                                                     const std::function<void()>& one_done,
                                                     const std::stop_token& stop = {});

}  // namespace morton::device
