// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/memory_range.hpp"

#include "layout/arrangement.hpp"

namespace morton::plan {

MemoryRange range_of(const std::vector<Value>& values, int index) {
  MemoryRange range;
  const std::int64_t bytes = bytes_of(values[static_cast<std::size_t>(index)].arrangement);
  for (range.root = index; values[static_cast<std::size_t>(range.root)].memory_of >= 0;
       range.root = values[static_cast<std::size_t>(range.root)].memory_of) {
    range.begin_bytes += values[static_cast<std::size_t>(range.root)].offset_in_owner_bytes;
  }
  range.end_bytes = range.begin_bytes + bytes;
  return range;
}

bool overlap(const MemoryRange& a, const MemoryRange& b) {
  return a.root == b.root && a.begin_bytes < b.end_bytes && b.begin_bytes < a.end_bytes;
}

}  // namespace morton::plan
