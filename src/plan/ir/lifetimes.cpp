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

std::vector<char> begins_block(const Plan& plan) {
  std::vector<char> begins(plan.values.size(), 0);
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      for (const StepArgument& argument : step.arguments) {
        if (argument.image.source != PlannedImage::Source::shared) continue;
        const int value = memory_root(plan.values, static_cast<int>(argument.number));
        begins[static_cast<std::size_t>(value)] = 1;
      }
    }
  }
  return begins;
}

std::vector<Lifetime> lifetimes(const Plan& plan) {
  const int end = std::max(0, static_cast<int>(plan.steps.size()) - 1);
  std::vector<Lifetime> lives(plan.values.size(), {end, 0});
  for (int s = 0; s < static_cast<int>(plan.steps.size()); ++s) {
    const Step& step = plan.steps[static_cast<std::size_t>(s)];
    for (const auto* list : {&step.reads, &step.writes}) {
      for (const int value : *list) {
        Lifetime& life = lives[static_cast<std::size_t>(value)];
        life.first = std::min(life.first, s);
        life.last = std::max(life.last, s);
      }
    }
  }
  for (std::size_t v = 0; v < lives.size(); ++v) {
    if (lives_all_through(plan.values[v])) lives[v] = {0, end};
  }
  // A name comes after what it names, so one way gathers at the owner and the other spreads.
  for (std::size_t v = lives.size(); v-- > 0;) {
    const int named = plan.values[v].memory_of;
    if (named < 0) continue;
    Lifetime& owner = lives[static_cast<std::size_t>(named)];
    owner.first = std::min(owner.first, lives[v].first);
    owner.last = std::max(owner.last, lives[v].last);
  }
  for (std::size_t v = 0; v < lives.size(); ++v) {
    const int named = plan.values[v].memory_of;
    if (named >= 0) lives[v] = lives[static_cast<std::size_t>(named)];
  }
  return lives;
}

bool shares_whole_places(const DeviceInfo& device) {
  return std::ranges::find(device.quirks, kOverlappingSubBuffers) != device.quirks.end();
}

}  // namespace morton::plan
