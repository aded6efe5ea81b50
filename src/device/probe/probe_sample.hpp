// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::device {

/// How often, and for how long, each thing is measured.
struct Sampling {
  int samples = 5;
  double sample_ms = 5.0;  ///< at least
};

/// Makes `amount` of work and returns the milliseconds that it took.
using Work = std::function<double(std::int64_t amount)>;

/// Doubles the amount until the work takes `sampling.sample_ms`, beginning with `least` (>= 1);
/// whatever a driver does at first launches is over then. Throws DeviceError, naming `what`, where
/// the time does not grow although the amount came to `most`: then something has removed the work.
[[nodiscard]] std::int64_t sufficient_amount(const Work& work, std::int64_t least,
                                             std::int64_t most, const Sampling& sampling,
                                             const std::string& what);

/// Milliseconds of a unit of work in each of `sampling.samples` runs of `amount` units.
[[nodiscard]] std::vector<double> samples_of(const Work& work, std::int64_t amount,
                                             const Sampling& sampling);

/// Milliseconds of one launch of `kernel`: by the device's clock, or the host's where the device's
/// makes no sense. Waits. Throws cl::Error.
[[nodiscard]] double launch_ms(const cl::CommandQueue& profiling_queue, const cl::Kernel& kernel,
                               std::int64_t work_items, std::int64_t work_group);
/// Likewise over several dimensions; an empty `work_group` leaves it to the driver.
[[nodiscard]] double launch_ms(const cl::CommandQueue& profiling_queue, const cl::Kernel& kernel,
                               const cl::NDRange& work_items, const cl::NDRange& work_group);

/// Work whose units are these, one after the other; each returns its milliseconds.
[[nodiscard]] Work repeated(std::function<double()> unit);

}  // namespace morton::device
