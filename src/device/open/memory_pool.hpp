// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl.hpp"

namespace morton::device {

class MemoryPool;

/// A block of device memory that goes back to its pool when the last copy of it dies. The pool may
/// hand it out again at once: commands that use it must have ended by then, or its next user must
/// enqueue on the same in-order queue.
class Block {
 public:
  Block() = default;
  /// The whole block; throws InternalError for an empty one.
  [[nodiscard]] MORTON_FOR_TOOLS const cl::Buffer& buffer() const;
  /// Its size, which may exceed what was asked for.
  [[nodiscard]] std::int64_t bytes() const;
  /// A sub-buffer; `offset_bytes` must be a multiple of the device's base alignment, the range
  /// inside the block; throws InternalError otherwise.
  [[nodiscard]] cl::Buffer slice(std::int64_t offset_bytes, std::int64_t bytes) const;

 private:
  friend class MemoryPool;
  struct Lease;
  std::shared_ptr<Lease> lease_;
};

/// Recycles buffers: fresh memory costs page faults (9 to 82 ms for 16 MiB on PoCL). Thread-safe.
/// Limits are checked before the driver is asked, since drivers do not enforce them: the device's,
/// and that of the process (memory_budget.hpp).
class MemoryPool {
 public:
  MemoryPool(cl::Context context, const DeviceInfo& info);
  ~MemoryPool();
  /// At least `bytes` (0 gives a small block, as OpenCL has no empty buffers). Throws DeviceError
  /// when it exceeds the largest allocation or what is left of the device's memory, with the
  /// numbers.
  [[nodiscard]] MORTON_FOR_TOOLS Block allocate(std::int64_t bytes);
  /// A block over memory of the host's, for devices that share it: what lies there is in the block.
  /// `owner` keeps it; only what was lent to be written may be. Throws DeviceError as `allocate`
  /// does, and where the driver takes no such memory.
  [[nodiscard]] Block over(std::span<const std::byte> memory, std::shared_ptr<const void> owner);
  /// Bytes in use, and the most that ever were.
  [[nodiscard]] std::int64_t used_bytes() const;
  [[nodiscard]] std::int64_t peak_bytes() const;
  /// Gives free blocks back to the driver.
  void trim();

 private:
  friend class Block;
  struct PooledBuffer;
  struct Store;
  /// A block that counts as used; the store's mutex is held.
  Block take_over(PooledBuffer memory, std::int64_t bytes, std::shared_ptr<const void> owner);

  std::shared_ptr<Store> store_;
};

}  // namespace morton::device
