// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/ir/lifetimes.hpp"

namespace morton::plan {

/// Gives every value a block of its device and an offset: values that live at the same time
/// do not overlap, blocks do not exceed the device's largest allocation, offsets keep its alignment
/// of sub-buffers, and where the device shares whole places only, what overlaps begins at the same
/// byte. Values with a `memory_of` lie where that value lies. `devices` are the
/// plan's, in its order. Throws UnsupportedError for a value larger than the largest allocation.
void place_memory(Plan& plan, const Devices& devices);
inline void place_memory(Plan& plan, const DeviceInfo& device) {
  place_memory(plan, Devices{device});
}

}  // namespace morton::plan
