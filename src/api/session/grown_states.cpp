// SPDX-License-Identifier: Apache-2.0
#include "api/session/grown_states.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace morton::api {

using graph::Growth;
using graph::GrowthInput;

std::int64_t GrownStates::extent(const std::string& state) const {
  const auto found = extents_.find(state);
  return found == extents_.end() ? 0 : found->second;
}

void GrownStates::set_count(const Growth& growth, std::int64_t count) {
  for (const GrowthInput& input : growth.inputs) extents_[input.name] = count;
}

void GrownStates::check(const std::vector<Growth>& growths) const {
  for (const Growth& growth : growths) {
    const GrowthInput& first = growth.inputs.front();
    const std::int64_t held = extent(first.name);
    for (const GrowthInput& other : growth.inputs) {
      if (extent(other.name) == held) continue;
      throw UsageError("session: state '" + first.name + "' is " + std::to_string(held) +
                       " long along dimension " + std::to_string(first.dimension) +
                       ", and state '" + other.name + "' " + std::to_string(extent(other.name)) +
                       " along dimension " + std::to_string(other.dimension) +
                       "; runs fill them alike, so set them alike");
    }
    if (held + growth.step <= growth.capacity) continue;
    throw UsageError("session: state '" + first.name + "' is " + std::to_string(held) +
                     " long along dimension " + std::to_string(first.dimension) +
                     ", and there is room for " + std::to_string(growth.capacity) +
                     "; a run adds " + std::to_string(growth.step) + ". Compile with a larger " +
                     setting("shapes", first.name) + ", or set a shorter state");
  }
}

void GrownStates::count_run(const std::vector<Growth>& growths) {
  check(growths);
  for (const Growth& growth : growths) {
    set_count(growth, extent(growth.inputs.front().name) + growth.step);
  }
}

bool GrownStates::is_full(const std::vector<Growth>& growths) const {
  return std::ranges::any_of(growths, [&](const Growth& growth) {
    return extent(growth.inputs.front().name) + growth.step > growth.capacity;
  });
}

std::optional<GrowingState> growing_state(const std::vector<Growth>& growths,
                                          const std::string& name) {
  for (const Growth& growth : growths) {
    for (const GrowthInput& input : growth.inputs) {
      if (input.name == name) return GrowingState{&growth, input.dimension};
    }
  }
  return {};
}

}  // namespace morton::api
