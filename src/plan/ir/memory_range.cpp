// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/memory_range.hpp"

#include "layout/arrangement.hpp"

namespace morton::plan {

MemoryRange range_of(const std::vector<Value>& values, int index) {
  MemoryRange range;
  range.root = memory_root(values, index);
  for (int name = index; name != range.root;) {
    const Value& value = values[static_cast<std::size_t>(name)];
    range.begin_bytes += value.offset_in_owner_bytes;
    name = value.memory_of;
  }
  range.end_bytes =
      range.begin_bytes + bytes_of(values[static_cast<std::size_t>(index)].arrangement);
  return range;
}

bool overlap(const MemoryRange& a, const MemoryRange& b) {
  return a.root == b.root && a.begin_bytes < b.end_bytes && b.begin_bytes < a.end_bytes;
}

}  // namespace morton::plan
