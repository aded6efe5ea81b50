// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/rooms.hpp"
#include "launch/launch.hpp"

namespace morton::launch {

/// A step that a routine of CLBlast computes. Only in builds that have CLBlast.
[[nodiscard]] std::unique_ptr<LaunchedStep> launch_clblast(const Step& step,
                                                           const OpenClDevice& device,
                                                           const BufferOf& buffer_of);

}  // namespace morton::launch
