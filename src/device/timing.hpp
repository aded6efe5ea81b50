// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "device/opencl.hpp"

namespace morton {

/// Nanoseconds that the device spent on a command that has ended, from its event. Nothing when the
/// queue does not profile or the driver's times make no sense (an end that is not after its start,
/// as rusticl 22 answers): the caller must use wall time then and say so.
[[nodiscard]] std::optional<std::int64_t> device_time_ns(const cl::Event& event);
/// Likewise from the start of one command to the end of a later one of the same queue.
[[nodiscard]] std::optional<std::int64_t> device_time_ns(const cl::Event& first,
                                                         const cl::Event& last);

}  // namespace morton
