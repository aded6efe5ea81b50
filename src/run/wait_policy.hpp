// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"

namespace morton::run {

/// How the host waits for commands of one kind: asleep, or asking for their end again and again.
/// Who sleeps must be woken, which takes 30 us and more where processors idle. Who asks has a
/// processor to itself, which the commands lack where all are busy. So both ways are measured from
/// time to time, and the faster one is used. What lasts long is slept through.
class WaitPolicy {
 public:
  /// What lasts longer is not shortened enough to be worth a processor.
  static constexpr double kLongestUs = 500.0;
  /// A way is measured by so many waits in a row. The first ones after a change count for nothing:
  /// threads settle on other processors.
  static constexpr std::int64_t kSettling = 8, kCounted = 24;
  /// Waits between two trials of the way that is not used: the least, and the most. Each trial of
  /// asking that was in vain doubles them.
  static constexpr std::int64_t kLeastPause = 256, kMostPause = 8192;

  /// For so long the next wait asks before it sleeps; 0 where it sleeps at once. The same until
  /// `took` is called.
  [[nodiscard]] double asking_us() const;
  /// The commands, which were waited for as `asking_us` told, took so long with their enqueuing:
  /// a host that has just asked may enqueue slowly.
  void took(double us);

 private:
  enum class Way : std::uint8_t { sleep, ask };
  /// By what was measured last.
  [[nodiscard]] bool asking_pays() const;
  /// What follows when the way that is used has been measured, and the other one on trial.
  void used_took();
  void trial_took();
  void use(Way way);

  Way used_ = Way::sleep;
  Way now_ = Way::sleep;  ///< another one on trial
  std::int64_t uncounted_ = kSettling;
  std::int64_t until_trial_ = 0;  ///< waits
  std::int64_t pause_ = kLeastPause;
  std::vector<double> counted_us_;
  double asleep_us_ = 0.0, asking_us_ = 0.0;  ///< as they were measured last
};

}  // namespace morton::run
