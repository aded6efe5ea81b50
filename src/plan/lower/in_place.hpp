// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "plan/ir/memory_range.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// Lets elementwise steps write over an operand that nothing reads afterwards.
void reuse_dying_operands(Schedule& schedule);

}  // namespace morton::plan
