// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/memory_range.hpp"

#include <algorithm>

#include "layout/arrangement.hpp"

namespace morton::plan {

MemoryRange range_of(const Values& values, ValueId id) {
  MemoryRange range;
  range.root = memory_root(values, id);
  for (ValueId name = id; name != range.root; name = values[name].memory_of) {
    range.begin_bytes += values[name].offset_in_owner_bytes;
  }
  range.end_bytes = range.begin_bytes + bytes_of(values[id].arrangement);
  return range;
}

bool overlap(const MemoryRange& a, const MemoryRange& b) {
  return a.root == b.root && a.begin_bytes < b.end_bytes && b.begin_bytes < a.end_bytes;
}

MemoryRange common_part(const MemoryRange& a, const MemoryRange& b) {
  return {a.root, std::max(a.begin_bytes, b.begin_bytes), std::min(a.end_bytes, b.end_bytes)};
}

bool share_bytes(const Value& a, const Value& b) {
  return a.block == b.block && a.offset_bytes < b.offset_bytes + b.bytes &&
         b.offset_bytes < a.offset_bytes + a.bytes;
}

}  // namespace morton::plan
