// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace morton::cli {

/// Starts a process of low priority that builds, for later starts, what this command would have had
/// to wait for: the same command with --prepare. It outlives this process and prints nothing.
/// Returns what is to be told of it: that it was started, that one is at work for this cache folder
/// already, or why there is none (MORTON_BACKGROUND is off, or it cannot be started).
[[nodiscard]] std::string build_for_later_starts(const std::string& cache_dir);

}  // namespace morton::cli
