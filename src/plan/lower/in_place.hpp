// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// Drops the copies that only join tensors (Concat) or take them apart (Split): where a part is one
/// stretch of the whole's memory, it becomes a name of that stretch, so that whoever computes the
/// part writes into the whole, and whoever reads it reads there. A part stays a copy where it does
/// not begin at the device's alignment of sub-buffers, is no stretch (a batch of several images
/// joined along channels), is in two wholes, or belongs to the caller or to a state.
void join_parts(Schedule& schedule, const DeviceInfo& device);

/// Lets elementwise steps write over an operand that nothing reads afterwards.
void write_over_dying(Schedule& schedule);

/// The bytes of a value within the memory of its root (memory_root).
struct MemoryRange {
  int root = -1;
  std::int64_t begin_bytes = 0, end_bytes = 0;
  bool operator==(const MemoryRange&) const = default;
};
[[nodiscard]] MemoryRange range_of(const std::vector<Value>& values, int index);
[[nodiscard]] bool overlap(const MemoryRange& a, const MemoryRange& b);

/// True where steps write the value and steps read it: what is neither the caller's nor fixed.
[[nodiscard]] inline bool is_between_steps(const Value& value) {
  return value.kind == Value::Kind::activation || value.kind == Value::Kind::workspace;
}

}  // namespace morton::plan
