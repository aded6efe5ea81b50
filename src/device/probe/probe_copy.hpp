// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/rooms.hpp"
#include "device/probe/probe_sample.hpp"

namespace morton::device {

/// Measures how fast the driver copies a buffer of the device into another one
/// (clEnqueueCopyBuffer), on the host's clock.
class CopyProbe {
 public:
  /// Throws DeviceError.
  CopyProbe(std::shared_ptr<OpenClDevice> device, std::int64_t bytes);

  /// Milliseconds of a copy of each sample, copies back to back with one final wait. Throws
  /// DeviceError where other bytes arrive.
  [[nodiscard]] std::vector<double> copy_ms(const Sampling& sampling);

 private:
  std::shared_ptr<OpenClDevice> device_;
  std::vector<std::byte> pattern_;
  cl::CommandQueue queue_;
  cl::Buffer from_, to_;
};

}  // namespace morton::device
