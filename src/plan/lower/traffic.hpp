// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// What a kernel has to move, whatever format its operands are in.
struct Traffic {
  std::int64_t bytes = 0;            ///< each operand's elements once
  std::int64_t footprint_bytes = 0;  ///< of the memory that they are in, once where operands share
};

/// The elements are those of the problem: padding does not count, nor what a step leaves untouched
/// of a tensor that it sees a part of; an operand that is broadcast, or read several times through
/// a view (im2col), counts with the tensor behind it.
[[nodiscard]] Traffic traffic_of(const ScheduledKernel& kernel, const Values& values);

}  // namespace morton::plan
