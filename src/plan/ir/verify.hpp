// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// Checks what the run relies on: values within blocks, no two live values that overlap, every
/// value written before it is read, work-groups within the device's limits. Throws InternalError.
/// `devices` are the plan's, in its order.
void verify(const Plan& plan, const Devices& devices);
inline void verify(const Plan& plan, const DeviceInfo& device) { verify(plan, Devices{device}); }

}  // namespace morton::plan
