// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl.hpp"

namespace morton::device {

/// Times of a command on the device's clock, in nanoseconds.
struct DeviceSpan {
  std::int64_t enqueued_ns = 0, start_ns = 0, end_ns = 0;
};

/// From the start of one command to the end of a later one of the same queue, and when the first
/// was enqueued (0 where the driver does not say). Nothing where device_time_ns has nothing.
[[nodiscard]] std::optional<DeviceSpan> device_span(const cl::Event& first, const cl::Event& last);

/// Nanoseconds that the device spent on a command that has ended, from its event. Nothing when the
/// queue does not profile or the driver's times make no sense (an end that is not after its start,
/// as rusticl 22 answers): the caller must use wall time then and say so.
[[nodiscard]] MORTON_FOR_TOOLS std::optional<std::int64_t> device_time_ns(const cl::Event& event);
/// Likewise from the start of one command to the end of a later one of the same queue.
[[nodiscard]] std::optional<std::int64_t> device_time_ns(const cl::Event& first,
                                                         const cl::Event& last);

}  // namespace morton::device
