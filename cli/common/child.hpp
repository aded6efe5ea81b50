// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace morton::cli {

/// What a child process said in its first line, and when.
struct ChildAnswer {
  std::string line;
  double ms = 0.0;  ///< from starting the process to the end of that line
};

/// Runs this program with these arguments, and these variables beside those of this process, until
/// it ends. What it writes to standard error goes to this process's. Throws DeviceError where it
/// cannot be started, says nothing, or ends with a status other than 0.
[[nodiscard]] ChildAnswer run_child(const std::vector<std::string>& arguments,
                                    const std::map<std::string, std::string>& variables);

/// How long a kernel may take to build: the slowest one known takes a third of it.
inline constexpr double kBuildTimeoutMs = 180e3;

/// The command of this program that calls run_tune_worker().
[[nodiscard]] std::vector<std::string> worker_command();

}  // namespace morton::cli
