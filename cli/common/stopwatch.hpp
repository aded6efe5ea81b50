// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace morton::cli {

/// The time since it was made, by a clock that never goes back.
class Stopwatch {
 public:
  [[nodiscard]] double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace morton::cli
