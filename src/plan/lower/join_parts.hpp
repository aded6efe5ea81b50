// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// Drops the copies that only join tensors (Concat) or take them apart (Split): where a part is one
/// stretch of the whole's memory, it becomes a name of that stretch, so that whoever computes the
/// part writes into the whole, and whoever reads it reads there. Both lie row-major, or in the same
/// order in which the part is whole pieces (blocks of channels of one image). A part stays a copy
/// where it does not begin at the device's alignment of sub-buffers, is no stretch (a batch of
/// several images joined along channels), is in two wholes, or belongs to the caller or to a state.
void join_parts(Schedule& schedule, const DeviceInfo& device);

}  // namespace morton::plan
