// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// Gives every value its place as place_memory does, and decides which weights are streamed
/// (Value::is_streamed) so that weights take at most `limit_bytes`, where that can be: the small
/// ones stay, the large ones take turns in blocks of their own. Weights that kernels read as images
/// of their own (PlannedImage::Source::kept) stay. What all of them take says weight_memory.
void place_in_turns(Plan& plan, const DeviceInfo& device, std::int64_t limit_bytes);

}  // namespace morton::plan
