// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rooms.hpp"
#include "device/probe/probe_sample.hpp"

namespace morton::device {

/// Measures how fast bytes go from the host to a buffer of the device and back, on the host's
/// clock.
class TransferProbe {
 public:
  enum class Direction : std::uint8_t { to_device, from_device };
  enum class Way : std::uint8_t {
    pageable,  ///< written from, or read into, ordinary memory
    pinned,    ///< from or into memory that the driver gave (CL_MEM_ALLOC_HOST_PTR, mapped)
    mapped,    ///< the buffer is mapped, the host copies, the buffer is unmapped
  };

  /// Throws DeviceError.
  TransferProbe(std::shared_ptr<OpenClDevice> device, std::int64_t bytes);
  TransferProbe(const TransferProbe&) = delete;
  TransferProbe& operator=(const TransferProbe&) = delete;
  ~TransferProbe();

  /// GB/s of each sample, transfers back to back with one final wait. Throws DeviceError, also
  /// where other bytes arrive than were sent.
  [[nodiscard]] std::vector<double> measure(Direction direction, Way way, const Sampling& sampling);
  /// Microseconds of mapping the buffer (for overwriting, or for reading) and unmapping it, the
  /// host touching nothing, of each sample.
  [[nodiscard]] std::vector<double> map_us(Direction direction, const Sampling& sampling);

 private:
  /// Enqueues one transfer; the last waits for all.
  void transfer(Direction direction, Way way);
  void check(Direction direction, Way way);
  /// The host's end of a transfer.
  [[nodiscard]] std::byte* host_end(Way way);
  void put_in_buffer(const std::vector<std::byte>& bytes);
  [[nodiscard]] std::vector<std::byte> taken_from_buffer();

  std::shared_ptr<OpenClDevice> device_;
  std::vector<std::byte> pattern_;   ///< what is sent
  std::vector<std::byte> pageable_;  ///< the host's end
  cl::CommandQueue queue_;
  cl::Buffer buffer_, pinned_buffer_;
  std::byte* pinned_ = nullptr;
};

/// Measures what one launch of a kernel of one work-item costs, on the host's clock.
class LaunchProbe {
 public:
  /// Throws DeviceError.
  explicit LaunchProbe(std::shared_ptr<OpenClDevice> device);

  enum class Wait : std::uint8_t {
    at_the_end,  ///< launches follow each other; their number divides the time
    after_each,  ///< the host waits for each
  };
  /// Microseconds a launch of each sample. Throws DeviceError, also where fewer launches ran than
  /// were asked for.
  [[nodiscard]] std::vector<double> measure_us(Wait wait, const Sampling& sampling);

 private:
  std::shared_ptr<OpenClDevice> device_;
  std::shared_ptr<CachedProgram> program_;
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  cl::Buffer count_;
};

}  // namespace morton::device
