// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "device/open/opencl.hpp"

namespace morton::run {

/// How long the host waits for a device. OpenCL cannot take a command back, so a driver that hangs
/// makes every wait an endless one, unless the host asks for the end and gives up.
class AnswerLimit {
 public:
  /// As MORTON_ANSWER_LIMIT says; none where it is unset. Throws UsageError for what is no number
  /// of seconds above 0.
  AnswerLimit();
  [[nodiscard]] bool is_set() const { return milliseconds_ > 0; }
  [[nodiscard]] std::int64_t milliseconds() const { return milliseconds_; }
  /// Whether all that is in the queue has ended by then; it waits so long. Throws cl::Error where a
  /// command failed.
  [[nodiscard]] bool is_kept_by(const cl::CommandQueue& queue) const;
  /// Likewise a command, whose queue is flushed.
  [[nodiscard]] bool is_kept_by(const cl::Event& event) const;

 private:
  std::int64_t milliseconds_ = 0;
};

}  // namespace morton::run
