// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "common/terminal.hpp"
#include "morton/training_run.hpp"

namespace morton::cli {

/// Shows on standard error how far a training is: on a terminal a line that changes, and wherever
/// standard error goes a line that stays for each epoch and each look at the validation data. With
/// --quiet nothing.
class TrainLine {
 public:
  TrainLine();
  TrainLine(const TrainLine&) = delete;
  TrainLine& operator=(const TrainLine&) = delete;
  ~TrainLine() { clear(); }

  void update(const TrainingProgress& progress);
  /// Takes the changing line away, so that other text can follow.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  Terminal terminal_;
  bool enabled_ = false;
  bool visible_ = false;
  Clock::time_point shown_;
};

}  // namespace morton::cli
