// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/rooms.hpp"
#include "launch/launch.hpp"

namespace morton::launch {

/// A step that Eigen computes on the host, on memory that `device` shares with it. Enqueuing waits
/// for the commands before it and gives no events. Throws InternalError for an unknown routine.
[[nodiscard]] std::unique_ptr<LaunchedStep> launch_eigen(const Step& step,
                                                         const OpenClDevice& device,
                                                         const BufferOf& buffer_of);

}  // namespace morton::launch
