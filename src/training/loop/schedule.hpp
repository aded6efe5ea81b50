// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/rooms.hpp"

namespace morton::training {

/// How far a training will go, which schedules depend on.
struct TrainingLength {
  std::int64_t steps_per_epoch = 1;
  std::int64_t steps = 1;  ///< of the whole training
};

/// What a schedule has seen; all of its state.
struct ScheduleState {
  double best = std::numeric_limits<double>::infinity();  ///< lowest loss
  std::int64_t waited = 0;      ///< losses observed since the best one, or the last reduction
  std::int64_t reductions = 0;  ///< times that the rate was lowered

  bool operator==(const ScheduleState&) const = default;
};

/// The learning rate over time, as a factor of the rate that was asked for.
///
/// `constant`; `step` multiplies by `factor` after `every` so many epochs; `cosine` falls along
/// half a cosine to `least` at the end; `plateau` multiplies by `factor`, not below `least`, when
/// `patience` losses in a row are not lower than the best one by a ten-thousandth of it. Any of
/// them can begin with `warmup` steps, in which the factor grows linearly to 1. Source of cosine:
/// I. Loshchilov, F. Hutter, "SGDR" (2017), equation 5, without restarts.
class Schedule {
 public:
  enum class Kind : std::uint8_t { constant, step, cosine, plateau };

  /// The text of --schedule: "constant", "step:every=10,factor=0.1",
  /// "cosine:warmup=500,least=0.01", "plateau:patience=3,factor=0.5". Durations are in epochs, that
  /// of warm-up in steps, or as they say ("warmup=2epochs", "every=500steps"). Throws UsageError
  /// that names what there is.
  Schedule(const std::string& text, const TrainingLength& length);

  [[nodiscard]] Kind kind() const { return kind_; }
  /// Of the same kind with the same options, in whatever words; lengths are not compared.
  [[nodiscard]] bool is_like(const Schedule& other) const;
  /// What the rate is multiplied by at `step`, the first of which is 0.
  [[nodiscard]] double factor(std::int64_t step) const;
  /// Tells of a loss on the validation data (without such data, the mean of an epoch), once an
  /// epoch. Only a plateau listens.
  void observe(double loss);

  [[nodiscard]] const ScheduleState& state() const { return state_; }
  void restore(const ScheduleState& state) { state_ = state; }

 private:
  Kind kind_ = Kind::constant;
  TrainingLength length_;
  std::int64_t warmup_ = 0;  ///< in steps
  std::int64_t every_ = 0;   ///< in steps
  std::int64_t patience_ = 0;
  double reduction_ = 1.0;  ///< what is multiplied by at a step or plateau
  double least_ = 0.0;
  ScheduleState state_;
};

}  // namespace morton::training
