// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/writers.hpp"

#include <algorithm>

#include "plan/ir/memory_range.hpp"

namespace morton::plan {
namespace {

/// A transfer writes from its first stretch to its last, any other step the whole value.
MemoryRange written_range(const Plan& plan, const Step& step, ValueId value) {
  MemoryRange range = range_of(plan.values, value);
  const Transfer* transfer = step.transfer();
  if (transfer == nullptr) return range;
  range.begin_bytes += transfer->to_offset_bytes;
  range.end_bytes = range.begin_bytes + transfer->to_span_bytes();
  return range;
}

}  // namespace

Writers::Writers(const Plan& plan)
    : plan_(plan), own_(plan.values.size(), 0), writes_(plan.values.size()) {
  std::size_t number = 0;
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      for (const ValueId value : step.writes) {
        const MemoryRange range = written_range(plan, step, value);
        ++own_[value];
        writes_[range.root].push_back({number, value, range, replaces(step, value)});
      }
      ++number;
    }
  }
}

bool Writers::replaces(const Step& step, ValueId value) const {
  if (!step.in_place) return false;
  const MemoryRange written = range_of(plan_.values, value);
  return std::ranges::any_of(step.reads, [&](ValueId read) {
    return overlap(range_of(plan_.values, read), written) && !is_within(read, value);
  });
}

std::vector<Write> Writers::of(ValueId value) const {
  const MemoryRange wanted = range_of(plan_.values, value);
  const ValueId name = written_name(value);
  std::vector<Write> writes;
  for (const Write& write : to_memory_of(value)) {
    if (!is_within(write.value, name)) continue;
    // What is computed in place under another name ends this value.
    if (write.value != name && write.replaces) break;
    if (write.value == value || overlap(write.range, wanted)) writes.push_back(write);
  }
  return writes;
}

const std::vector<Write>& Writers::to_memory_of(ValueId value) const {
  return writes_[memory_root(plan_.values, value)];
}

ValueId Writers::written_name(ValueId value) const {
  while (own_[value] == 0 && plan_.values[value].memory_of) value = plan_.values[value].memory_of;
  return value;
}

bool Writers::is_within(ValueId value, ValueId whole) const {
  while (value && value != whole) value = plan_.values[value].memory_of;
  return value == whole;
}

}  // namespace morton::plan
