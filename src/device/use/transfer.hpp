// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl.hpp"

namespace morton::device {

/// Copies host memory into `buffer` at `offset_bytes`; `from` may be reused on return, commands
/// enqueued later on `queue` see the new bytes. Through a mapping where the device shares the
/// host's memory, else by a write. No bytes is no command. Throws InternalError when the range
/// leaves the buffer, DeviceError when the driver fails.
MORTON_FOR_TOOLS void write_buffer(const cl::CommandQueue& queue, const DeviceInfo& info,
                                   const cl::Buffer& buffer, std::int64_t offset_bytes,
                                   std::span<const std::byte> from);
/// The other way, after all commands enqueued earlier on `queue`; waits.
MORTON_FOR_TOOLS void read_buffer(const cl::CommandQueue& queue, const DeviceInfo& info,
                                  const cl::Buffer& buffer, std::int64_t offset_bytes,
                                  std::span<std::byte> to);

/// Equal parts of a buffer at equal distances.
struct Stretches {
  std::int64_t offset_bytes = 0;  ///< of the first
  std::int64_t bytes = 0;         ///< of each, >= 1
  std::int64_t count = 1;
  std::int64_t pitch_bytes = 0;  ///< from one to the next, >= `bytes` where there are several

  [[nodiscard]] std::int64_t all_bytes() const { return count * bytes; }
  /// From the first byte to the last.
  [[nodiscard]] std::int64_t span_bytes() const { return (count - 1) * pitch_bytes + bytes; }
  [[nodiscard]] bool is_one() const { return count == 1 || pitch_bytes == bytes; }
};
/// As write_buffer, into stretches, which lie one behind the other in `from`.
void write_stretches(const cl::CommandQueue& queue, const DeviceInfo& info,
                     const cl::Buffer& buffer, const Stretches& to,
                     std::span<const std::byte> from);
/// As read_buffer, of stretches, which lie one behind the other in `to`.
void read_stretches(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Buffer& buffer,
                    const Stretches& from, std::span<std::byte> to);
/// A buffer of the queue's context and its stretches.
struct BufferStretches {
  const cl::Buffer& buffer;
  Stretches stretches;
};
/// Enqueues a copy between two buffers of one context; as many stretches of the same size each.
void enqueue_copy(const cl::CommandQueue& queue, const DeviceInfo& info,
                  const BufferStretches& from, const BufferStretches& to);

/// Enqueues a write into the whole of `buffer` and does not wait for it: until it has run, `from`
/// must neither change nor go. No bytes is no command. Errors as write_buffer.
void enqueue_write(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Buffer& buffer,
                   std::span<const std::byte> from, cl::Event* written = nullptr);

/// Up to so many bytes the host copies twice rather than wait for the device once: a command that
/// is waited for takes 20 to 30 us on PoCL, a copy of these some 20.
inline constexpr std::int64_t kStagedBytes = std::int64_t{512} << 10;

/// Host memory from which a buffer is written while the host goes on.
class StagedWrite {
 public:
  /// Copies `from`, enqueues its write into the whole of `buffer` and does not wait for it, but for
  /// the one before. Errors as write_buffer.
  void enqueue(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Buffer& buffer,
               std::span<const std::byte> from);

 private:
  std::vector<std::byte> bytes_;
  cl::Event written_;
};

/// A buffer and where its first bytes go.
struct BufferRead {
  cl::Buffer buffer;
  std::span<std::byte> to;
};
/// As read_buffer for each, but waits once for all of those that take up to kStagedBytes: asks for
/// their end for `asking_us` microseconds, then sleeps.
void read_buffers(const cl::CommandQueue& queue, const DeviceInfo& info,
                  std::span<const BufferRead> reads, double asking_us = 0.0);

/// A part of a buffer that the host sees until this object dies: without a copy where device and
/// host share memory. Kernels must not use the part meanwhile.
class MappedBuffer {
 public:
  /// `bytes` (>= 1) from `offset_bytes` on.
  struct Range {
    std::int64_t offset_bytes = 0, bytes = 0;
  };
  enum class Access : std::uint8_t {
    read,       ///< the host reads
    overwrite,  ///< the host writes every byte; what was there is lost
    read_write,
  };
  enum class Wait : std::uint8_t {
    now,    ///< for the commands enqueued earlier on `queue`
    later,  ///< another mapping on the same queue, which runs in order, waits for both
  };
  /// Errors as write_buffer; keeps a reference to `info`.
  MappedBuffer(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Buffer& buffer,
               Range range, Access access, Wait wait = Wait::now);
  MappedBuffer(const MappedBuffer&) = delete;
  MappedBuffer& operator=(const MappedBuffer&) = delete;
  /// Unmaps if need be, swallowing errors; call `unmap` to see them.
  ~MappedBuffer();
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// Gives the part back to the device; `bytes` is empty from then on.
  void unmap();

 private:
  cl::CommandQueue queue_;
  cl::Buffer buffer_;
  const DeviceInfo* info_;
  std::span<std::byte> bytes_;
};

}  // namespace morton::device
