// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "morton/session.hpp"

namespace morton::cli {

/// The device's clock beside the host's, in one run. Both saw the first step being enqueued.
class ClockPair {
 public:
  explicit ClockPair(const std::vector<StepTime>& run);

  /// False where no step has times of the device.
  [[nodiscard]] bool is_known() const { return is_known_; }
  /// The host's microseconds since the run began, at the device's `ns`.
  [[nodiscard]] double host_us(std::int64_t ns) const {
    return host_us_ + static_cast<double>(ns - device_ns_) / 1e3;
  }

 private:
  bool is_known_ = false;
  double host_us_ = 0.0;
  std::int64_t device_ns_ = 0;
};

}  // namespace morton::cli
