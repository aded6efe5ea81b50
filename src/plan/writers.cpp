// SPDX-License-Identifier: Apache-2.0
#include "plan/writers.hpp"

namespace morton {
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
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      for (const int value : step.writes) {
        const MemoryRange range = written_range(plan, step, value);
        ++own_[static_cast<std::size_t>(value)];
        writes_[static_cast<std::size_t>(range.root)].push_back({in_place_.size(), value, range});
      }
      in_place_.push_back(step.in_place ? 1 : 0);
    }
  }
}

std::vector<Write> Writers::of(int value) const {
  const MemoryRange wanted = range_of(plan_.values, value);
  const int name = written_name(value);
  std::vector<Write> writes;
  for (const Write& write : to_memory_of(value)) {
    if (!is_within(write.value, name)) continue;
    // What is computed in place under another name ends this value.
    if (write.value != name && in_place_[write.step] != 0) break;
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

}  // namespace morton
