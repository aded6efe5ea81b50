// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "morton/device.hpp"
#include "morton/interop.hpp"

namespace morton::cli {

/// A buffer that goes back when the last copy does.
using DeviceBuffer = std::shared_ptr<std::remove_pointer_t<cl_mem>>;
using DeviceQueue = std::shared_ptr<std::remove_pointer_t<cl_command_queue>>;

/// Makes buffers and queues of the caller's in a device's context, for interop.hpp and for
/// libraries that take them. Every call throws DeviceError with OpenCL's status.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Device& device);

  [[nodiscard]] cl_device_id device_id() const { return device_; }
  /// Readable and writable; nothing says what it holds.
  [[nodiscard]] DeviceBuffer allocate(std::size_t bytes) const;
  /// In order, without profiling.
  [[nodiscard]] DeviceQueue make_queue() const;
  /// Copies, and returns when it is done.
  static void write(const DeviceQueue& queue, const DeviceBuffer& buffer,
                    std::span<const std::byte> bytes);
  static void read(const DeviceQueue& queue, const DeviceBuffer& buffer,
                   std::span<std::byte> bytes);
  static void finish(const DeviceQueue& queue);

 private:
  cl_context context_;
  cl_device_id device_;
  Device owner_;  ///< keeps the context
};

}  // namespace morton::cli
