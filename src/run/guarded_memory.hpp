// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::run {

/// Each byte of what nothing was written to: as f32 a NaN.
inline constexpr std::byte kPoison{0xFF};

/// What lies around a value's memory in a guarded run.
enum class Surroundings : std::uint8_t {
  guards,   ///< a known pattern, which reads as NaN and must be there afterwards; beyond it pages
            ///< that end the process that touches them, where the device computes in the host's
            ///< memory (a CPU)
  nothing,  ///< a buffer of the exact size, never written by the host: for Oclgrind to watch
};

/// Device memory for one value, with something around it that shows what goes beyond. But in
/// `nothing` it holds NaN (as f32) first.
class GuardedMemory {
 public:
  /// Where the value lies in a plan: at the start of its block its buffer must be no sub-buffer.
  enum class Start : std::uint8_t { of_block, anywhere };
  GuardedMemory() = default;
  /// At least one byte. Throws cl::Error, DeviceError.
  GuardedMemory(const OpenClDevice& device, const cl::CommandQueue& queue, std::int64_t bytes,
                Surroundings surroundings, Start start);

  [[nodiscard]] bool is_made() const { return value_() != nullptr; }
  /// What kernels get.
  [[nodiscard]] const cl::Buffer& buffer() const { return value_; }
  /// "written below its memory" or above; empty where the guards are as they were. Waits for the
  /// queue.
  [[nodiscard]] std::string damage(const OpenClDevice& device, const cl::CommandQueue& queue) const;

 private:
  class Pages;

  cl::Buffer whole_;  ///< with its guards
  cl::Buffer value_;
  std::int64_t front_ = 0, bytes_ = 0, back_ = 0;
  std::shared_ptr<Pages> pages_;  ///< null where the driver has the memory
};

}  // namespace morton::run
