// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// The bytes of a value within the memory of its root (memory_root).
struct MemoryRange {
  ValueId root;
  std::int64_t begin_bytes = 0, end_bytes = 0;
  bool operator==(const MemoryRange&) const = default;
};
[[nodiscard]] MemoryRange range_of(const Values& values, ValueId id);
[[nodiscard]] bool overlap(const MemoryRange& a, const MemoryRange& b);
[[nodiscard]] MemoryRange common_part(const MemoryRange& a, const MemoryRange& b);

/// Whether two values, which have their places, lie in some byte of the device both.
[[nodiscard]] bool share_bytes(const Value& a, const Value& b);

/// True where steps write the value and steps read it: what is neither the caller's nor fixed.
[[nodiscard]] inline bool is_between_steps(const Value& value) {
  return value.kind == Value::Kind::activation || value.kind == Value::Kind::workspace;
}

}  // namespace morton::plan
