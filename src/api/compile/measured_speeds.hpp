// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "api/compile/job.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// Rows a second of each device, which compiles the model with `rows` as its batch and runs it a
/// few times: one device after the other and in turns, so that a machine that is busy for a while
/// slows all of them. Throws what compiling and running throw.
[[nodiscard]] std::vector<double> measured_speeds(const Job& job,
                                                  const std::vector<Device>& devices,
                                                  std::int64_t rows);

}  // namespace morton::api
