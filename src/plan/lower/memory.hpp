// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/ir/lifetimes.hpp"

namespace morton::plan {

/// Gives every value a block of its slot's device and an offset: values that live at the same time
/// do not overlap, blocks do not exceed the device's largest allocation, offsets keep its alignment
/// of sub-buffers, and where the device shares whole places only, what overlaps begins at the same
/// byte. Values with a `memory_of` lie where that value lies. `devices` has one device
/// for each slot. Throws UnsupportedError for a value larger than the largest allocation.
void place_memory(Plan& plan, std::span<const DeviceInfo> devices);
inline void place_memory(Plan& plan, const DeviceInfo& device) { place_memory(plan, {&device, 1}); }

}  // namespace morton::plan
