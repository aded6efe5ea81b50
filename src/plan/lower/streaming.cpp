// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/streaming.hpp"

#include <algorithm>
#include <vector>

#include "plan/lower/memory.hpp"

namespace morton::plan {
namespace {

/// The roots of the weights that may be streamed, the smallest first.
std::vector<ValueId> streamable(const Plan& plan) {
  Indexed<ValueId, char> is_read(plan.values.size(), 0), stays(plan.values.size(), 0);
  for (const Step& step : plan.steps) {
    for (const ValueId value : step.reads) is_read[memory_root(plan.values, value)] = 1;
    for (const StepArgument& argument : step.arguments) {
      const PassedValue* passed = argument.value();
      if (passed != nullptr && passed->image.source == PlannedImage::Source::kept)
        stays[memory_root(plan.values, passed->id)] = 1;
    }
  }
  for (const Step& step : plan.load_steps) {
    for (const ValueId value : step.reads) stays[memory_root(plan.values, value)] = 1;
    for (const ValueId value : step.writes) {
      if (plan.values[value].memory_of) stays[memory_root(plan.values, value)] = 1;  // in parts
    }
  }
  for (const Port& output : plan.outputs) stays[memory_root(plan.values, output.value)] = 1;
  std::vector<ValueId> found;
  for (const ValueId v : plan.values.ids()) {
    const Value& value = plan.values[v];
    if (is_fixed(value) && !value.memory_of && is_read[v] != 0 && stays[v] == 0) found.push_back(v);
  }
  std::ranges::stable_sort(found, {}, [&](ValueId v) { return plan.values[v].bytes; });
  return found;
}

/// Places all values. Of `weights`, those that fit into `resident_bytes` together stay.
void place(Plan& plan, const DeviceInfo& device, const std::vector<ValueId>& weights,
           std::int64_t resident_bytes) {
  for (Value& value : plan.values) value.is_streamed = false;
  for (const ValueId v : weights) {
    resident_bytes -= plan.values[v].bytes;
    plan.values[v].is_streamed = resident_bytes < 0;
  }
  for (const ValueId v : plan.values.ids()) {
    plan.values[v].is_streamed = plan.values[memory_root(plan.values, v)].is_streamed;
  }
  plan.blocks.clear();
  place_memory(plan, device);
}

}  // namespace

void place_in_turns(Plan& plan, const DeviceInfo& device, std::int64_t limit_bytes) {
  place_memory(plan, device);
  if (weight_memory(plan) <= limit_bytes) return;
  const std::vector<ValueId> weights = streamable(plan);
  std::int64_t resident_bytes = limit_bytes / 4;
  place(plan, device, weights, resident_bytes);
  // What the turns leave goes to further weights that stay, as long as that does not make it more.
  const std::int64_t left = limit_bytes - weight_memory(plan);
  if (left <= 0) return;
  Plan fuller = plan;
  place(fuller, device, weights, resident_bytes + left);
  if (weight_memory(fuller) <= limit_bytes) plan = std::move(fuller);
}

}  // namespace morton::plan
