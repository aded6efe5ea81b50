// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl.hpp"
#include "device/use/transfer.hpp"

namespace morton::device {

/// Large writes to a device with memory of its own, by way of host memory that the driver gave.
/// The device reads that memory by itself, four times as fast as a driver copies the caller's (54
/// and 13 GB/s on an H100). Several threads copy the bytes there, and what they have copied is on
/// its way while they copy the rest.
class MORTON_FOR_TOOLS PinnedWrite {
 public:
  /// Whether that is faster than a plain write of so many bytes to this device, by this host. A
  /// rule by the sizes at which it was faster on one H100, not measured on others.
  [[nodiscard]] static bool pays(const DeviceInfo& info, std::int64_t bytes);
  /// Copies `from` and enqueues its writes into `buffer`, which may be larger. Waits for the copy
  /// and for the writes of the call before. Errors as write_buffer.
  void enqueue(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Buffer& buffer,
               std::span<const std::byte> from);

 private:
  std::optional<MappedBuffer> memory_;
  cl::Event written_;
};

}  // namespace morton::device
