// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/writers.hpp"

#include <algorithm>

#include "plan/ir/memory_range.hpp"

namespace morton::plan {
namespace {

/// A transfer writes the stretch that it brings, any other step the whole value.
MemoryRange written_range(const Plan& plan, const Step& step, int value) {
  MemoryRange range = range_of(plan.values, value);
  if (step.kind != Step::Kind::transfer) return range;
  range.begin_bytes += step.transfer.to_offset_bytes;
  range.end_bytes = range.begin_bytes + step.transfer.bytes;
  return range;
}

}  // namespace

Writers::Writers(const Plan& plan)
    : plan_(plan), own_(plan.values.size(), 0), writes_(plan.values.size()) {
  std::size_t number = 0;
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      for (const int value : step.writes) {
        const MemoryRange range = written_range(plan, step, value);
        ++own_[static_cast<std::size_t>(value)];
        writes_[static_cast<std::size_t>(range.root)].push_back(
            {number, value, range, replaces(step, value)});
      }
      ++number;
    }
  }
}

bool Writers::replaces(const Step& step, int value) const {
  if (!step.in_place) return false;
  const MemoryRange written = range_of(plan_.values, value);
  return std::ranges::any_of(step.reads, [&](int read) {
    return overlap(range_of(plan_.values, read), written) && !is_within(read, value);
  });
}

std::vector<Write> Writers::of(int value) const {
  const MemoryRange wanted = range_of(plan_.values, value);
  const int name = written_name(value);
  std::vector<Write> writes;
  for (const Write& write : to_memory_of(value)) {
    if (!is_within(write.value, name)) continue;
    // What is computed in place under another name ends this value.
    if (write.value != name && write.replaces) break;
    if (write.value == value || overlap(write.range, wanted)) writes.push_back(write);
  }
  return writes;
}

const std::vector<Write>& Writers::to_memory_of(int value) const {
  return writes_[static_cast<std::size_t>(memory_root(plan_.values, value))];
}

int Writers::written_name(int value) const {
  for (;;) {
    if (own_[static_cast<std::size_t>(value)] > 0) return value;
    const int next = plan_.values[static_cast<std::size_t>(value)].memory_of;
    if (next < 0) return value;
    value = next;
  }
}

bool Writers::is_within(int value, int whole) const {
  while (value >= 0 && value != whole) {
    value = plan_.values[static_cast<std::size_t>(value)].memory_of;
  }
  return value == whole;
}

}  // namespace morton::plan
