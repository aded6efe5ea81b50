// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/lifetimes.hpp"

#include <algorithm>

namespace morton::plan {
namespace {

bool lives_all_through(const Value& value) {
  return value.kind == Value::Kind::input || value.kind == Value::Kind::output ||
         value.kind == Value::Kind::state || is_resident(value);
}

std::size_t last_of(const std::vector<Step>& steps) {
  return std::max<std::size_t>(steps.size(), 1) - 1;
}

/// Of each name by itself; from the last step to the first where no step touches it.
Lifetimes touched_by(const std::vector<Step>& steps, const Plan& plan) {
  Lifetimes lives(plan.values.size(), {last_of(steps), 0});
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const auto* list : {&steps[s].reads, &steps[s].writes}) {
      for (const ValueId value : *list) {
        lives[value].first = std::min(lives[value].first, s);
        lives[value].last = std::max(lives[value].last, s);
      }
    }
  }
  return lives;
}

/// Gives all names of a memory the time in which any of them lives.
void join_names(const Plan& plan, Lifetimes& lives) {
  for (const ValueId v : plan.values.ids()) {
    Lifetime& root = lives[memory_root(plan.values, v)];
    root.first = std::min(root.first, lives[v].first);
    root.last = std::max(root.last, lives[v].last);
  }
  for (const ValueId v : plan.values.ids()) lives[v] = lives[memory_root(plan.values, v)];
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

Lifetimes lifetimes(const Plan& plan) {
  Lifetimes lives = touched_by(plan.steps, plan);
  for (const ValueId v : plan.values.ids()) {
    if (lives_all_through(plan.values[v])) {
      lives[v] = {0, last_of(plan.steps)};
    } else if (plan.values[v].is_streamed && lives[v].first <= lives[v].last) {
      lives[v].first -= lives[v].first > 0 ? 1 : 0;  // it comes while the step before computes
    }
  }
  join_names(plan, lives);
  return lives;
}

Lifetimes load_lifetimes(const Plan& plan) {
  Lifetimes lives = touched_by(plan.load_steps, plan);
  join_names(plan, lives);
  for (Lifetime& life : lives) {
    if (life.first > life.last) life = {0, 0};
  }
  return lives;
}

bool shares_whole_places(const DeviceInfo& device) {
  return std::ranges::find(device.quirks, kOverlappingSubBuffers) != device.quirks.end();
}

}  // namespace morton::plan
