// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/stopwatch.hpp"
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
  Terminal terminal_;
  bool enabled_ = false;
  bool visible_ = false;
  std::optional<Stopwatch> shown_;  ///< since the changing line changed
};

}  // namespace morton::cli
