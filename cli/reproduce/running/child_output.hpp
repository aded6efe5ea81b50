// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace morton::cli {

/// What a child process wrote until it ended or was ended.
struct ChildOutput {
  std::string standard, error;  ///< its two outputs, whole
  int status = 0;               ///< of its exit; -1 where there was none
  bool too_late = false;        ///< it was ended since its time was over
  std::string how;  ///< "ended with status 1", "was ended by signal 11", "took too long"
};

/// Runs this program with these arguments until it ends, for `timeout_ms` at most, and keeps what
/// it writes. Throws DeviceError where it cannot be started.
[[nodiscard]] ChildOutput run_child_for(const std::vector<std::string>& arguments,
                                        double timeout_ms);

}  // namespace morton::cli
