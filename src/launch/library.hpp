// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>

#include "launch/launch.hpp"

namespace morton {

/// Names of the libraries that this build can call (MORTON_CLBLAST of CMake).
[[nodiscard]] std::set<std::string> available_libraries();

/// A step of kind library. Enqueuing throws DeviceError when the library refuses. Throws
/// UnsupportedError where this build has not the library, InternalError for an unknown routine.
[[nodiscard]] std::unique_ptr<LaunchedStep> launch_library(const Step& step,
                                                           const BufferOf& buffer_of);

}  // namespace morton
