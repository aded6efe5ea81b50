// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace morton::cli {

/// Throws UsageError where MORTON_BACKGROUND is neither `on` nor `off`.
void check_background_wish();

/// Starts a process of low priority that builds, for later starts, what this command would have had
/// to wait for: the same command with --in-background. It outlives this process, prints nothing and
/// keeps none of this process's files open. Processes for one cache folder work one after the
/// other. Returns what is to be told of it: that it was started, that one for the same kernels is
/// there already, or why there is none. `place` is a digest of what decides which kernels are
/// built: of the steps of the plan that answered.
[[nodiscard]] std::string build_for_later_starts(const std::string& place,
                                                 const std::string& cache_dir);

/// The turn of such a process: its place in the cache folder, which ends with the object.
class BackgroundTurn {
 public:
  /// Waits until no other such process builds for the cache folder. `place` is what
  /// --in-background says. Throws UsageError where there can be no turn.
  BackgroundTurn(const std::string& place, const std::string& cache_dir);
  BackgroundTurn(const BackgroundTurn&) = delete;
  BackgroundTurn& operator=(const BackgroundTurn&) = delete;
  ~BackgroundTurn();

 private:
  std::string place_;  ///< the file that this process has locked since its start
  int turn_ = -1;      ///< the folder's lock
};

}  // namespace morton::cli
