// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <ratio>

namespace morton {

/// The time since it was made, by a clock that never goes back.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return elapsed<std::ratio<1>>(); }
  [[nodiscard]] double milliseconds() const { return elapsed<std::milli>(); }
  [[nodiscard]] double microseconds() const { return elapsed<std::micro>(); }

 private:
  using Clock = std::chrono::steady_clock;
  template <typename Unit>
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double, Unit>(Clock::now() - start_).count();
  }

  Clock::time_point start_ = Clock::now();
};

}  // namespace morton
