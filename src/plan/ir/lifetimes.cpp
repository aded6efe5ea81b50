// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/lifetimes.hpp"

#include <algorithm>

namespace morton::plan {
namespace {

bool lives_all_through(const Value& value) {
  return value.kind == Value::Kind::input || value.kind == Value::Kind::output ||
         value.kind == Value::Kind::state || is_fixed(value);
}

}  // namespace

Indexed<ValueId, char> begins_block(const Plan& plan) {
  Indexed<ValueId, char> begins(plan.values.size(), 0);
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      for (const StepArgument& argument : step.arguments) {
        const PassedValue* passed = argument.value();
        if (passed == nullptr || passed->image.source != PlannedImage::Source::shared) continue;
        begins[memory_root(plan.values, passed->id)] = 1;
      }
    }
  }
  return begins;
}

Indexed<ValueId, Lifetime> lifetimes(const Plan& plan) {
  const std::size_t end = std::max<std::size_t>(plan.steps.size(), 1) - 1;
  Indexed<ValueId, Lifetime> lives(plan.values.size(), {end, 0});
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (const auto* list : {&plan.steps[s].reads, &plan.steps[s].writes}) {
      for (const ValueId value : *list) {
        lives[value].first = std::min(lives[value].first, s);
        lives[value].last = std::max(lives[value].last, s);
      }
    }
  }
  for (const ValueId v : plan.values.ids()) {
    if (lives_all_through(plan.values[v])) lives[v] = {0, end};
    Lifetime& root = lives[memory_root(plan.values, v)];
    root.first = std::min(root.first, lives[v].first);
    root.last = std::max(root.last, lives[v].last);
  }
  for (const ValueId v : plan.values.ids()) lives[v] = lives[memory_root(plan.values, v)];
  return lives;
}

bool shares_whole_places(const DeviceInfo& device) {
  return std::ranges::find(device.quirks, kOverlappingSubBuffers) != device.quirks.end();
}

}  // namespace morton::plan
