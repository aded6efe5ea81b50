// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace morton::cli {

/// As long as one lives, Ctrl-C and a polite kill are noted, for the program to end in its own way;
/// a second one ends the program at once. What the parent has ignored (as nohup and shells'
/// background jobs do) stays ignored. One at a time.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// The signal that came; 0: none.
  [[nodiscard]] int caught() const;

 private:
  struct sigaction before_[2]{};
};

}  // namespace morton::cli
