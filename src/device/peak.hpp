// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/opencl_device.hpp"

namespace morton {

/// The kernel that measures a device's peak of f32 multiply-adds, at one width of vectors.
///
///     twelve chains  s = s * a + b   in registers, no two of which wait for each other
///
/// Twelve hide the latency of a multiply-add on every device known (4 cycles times 2 units on CPUs,
/// 4 to 9 cycles on GPUs, where other work-items help).
class PeakKernel {
 public:
  static constexpr int kChains = 12;

  /// `width` is 1, 2, 4, 8 or 16. Throws DeviceError.
  PeakKernel(std::shared_ptr<OpenClDevice> device, int width);

  /// One run of about `milliseconds`, in GFLOP/s: by the device's clock, or the host's where the
  /// device's makes no sense.
  [[nodiscard]] double measure_gflops(double milliseconds);
  /// "fma on float16, 12 chains".
  [[nodiscard]] std::string description() const;

 private:
  /// Milliseconds of one run with `rounds` turns of the loop.
  [[nodiscard]] double run_ms(std::int64_t rounds);

  std::shared_ptr<OpenClDevice> device_;
  int width_;
  std::string operation_;  ///< "fma", or "mad" where fma is not done in hardware
  std::int64_t work_items_, work_group_;
  std::int64_t rounds_ = 0;  ///< that took the time last asked for
  cl::Kernel kernel_;
  cl::CommandQueue queue_;
  cl::Buffer result_;
};

}  // namespace morton
