// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/rooms.hpp"
#include "launch/launch.hpp"

namespace morton::launch {

/// Names of the libraries that this build can call: Eigen always, CLBlast as CMake's MORTON_CLBLAST
/// says.
[[nodiscard]] std::set<std::string> available_libraries();

/// A step that calls a library, on `device`. Enqueuing throws DeviceError when the library refuses.
/// Throws UnsupportedError where this build has not the library, InternalError for an unknown
/// routine.
[[nodiscard]] std::unique_ptr<LaunchedStep> launch_library(const Step& step,
                                                           const OpenClDevice& device,
                                                           const BufferOf& buffer_of);

}  // namespace morton::launch
