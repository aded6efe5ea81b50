// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl.hpp"

namespace morton::device {

/// dst[m,n] = lhs[m,k] * rhs[k,n]
struct ProductExtents {
  std::int64_t m = 0, n = 0, k = 0;
};

/// Dense row-major f32 in memory of a device.
struct ProductBuffers {
  cl::Buffer lhs, rhs, dst;
};

/// The product of dense row-major matrices on the calling thread, by Eigen. A16 advises it for
/// products so small that launching a kernel takes longer.
MORTON_FOR_TOOLS void multiply_on_host(std::span<const float> lhs, std::span<const float> rhs,
                                       std::span<float> dst, const ProductExtents& extents);

/// The same on buffers of a device that shares the host's memory: waits for the commands enqueued
/// earlier on `queue`, maps the buffers, multiplies, unmaps. Commands enqueued later see the
/// result. Throws DeviceError when the driver fails.
MORTON_FOR_TOOLS void multiply_mapped(const cl::CommandQueue& queue, const DeviceInfo& info,
                                      const ProductBuffers& buffers, const ProductExtents& extents);

}  // namespace morton::device
