// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::device {

/// What the chains of a PeakKernel compute with.
enum class PeakType : std::uint8_t { f32, f16, i32 };
[[nodiscard]] std::string_view name_of(PeakType type);

/// The kernel that measures a device's peak of multiply-adds, of one type at one width of vectors.
///
///     twelve chains  s = s * a + b   in registers, no two of which wait for each other
///
/// Twelve hide the latency of a multiply-add on every device known (4 cycles times 2 units on CPUs,
/// 4 to 9 cycles on GPUs, where other work-items help).
class PeakKernel {
 public:
  static constexpr int kChains = 12;

  /// `width` is 1, 2, 4, 8 or 16; f16 needs info().features.fp16. Throws DeviceError.
  PeakKernel(std::shared_ptr<OpenClDevice> device, int width, PeakType type = PeakType::f32);

  /// One run of about `milliseconds`, in GFLOP/s (two for each multiply-add, of integers too): by
  /// the device's clock, or the host's where the device's makes no sense.
  [[nodiscard]] double measure_gflops(double milliseconds);
  /// Reads the sums of the last run and compares them with what the chains must have come to.
  /// Throws DeviceError that says what was expected where one differs: then the driver did not run
  /// what was written, and no figure means anything. Writes the program to the cache.
  void check_result();
  /// "fma on float16, 12 chains".
  [[nodiscard]] std::string description() const;
  /// "fma", "mad" or "mul and add".
  [[nodiscard]] const std::string& operation() const { return operation_; }

 private:
  /// Milliseconds of one run with `rounds` turns of the loop.
  [[nodiscard]] double run_ms(std::int64_t rounds);
  /// What work-item `id` must have stored after the last run: a float's or an int's bits.
  [[nodiscard]] double expected_of(std::int64_t id) const;

  std::shared_ptr<OpenClDevice> device_;
  int width_;
  PeakType type_;
  std::string operation_;  ///< "fma", or "mad" where fma is not done in hardware
  std::int64_t work_items_, work_group_;
  std::int64_t rounds_ = 0;    ///< that took the time last asked for
  std::int64_t last_run_ = 0;  ///< rounds of the last run
  std::shared_ptr<CachedProgram> program_;
  cl::Kernel kernel_;
  cl::CommandQueue queue_;
  cl::Buffer result_;
};

}  // namespace morton::device
