// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/memory.hpp"

#include <algorithm>

#include "base/numbers/checked.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/lower/placement.hpp"

namespace morton::plan {
namespace {

PlannedBlock::Kind block_kind(const Value& value) {
  if (is_fixed(value)) return PlannedBlock::Kind::weights;
  if (value.kind == Value::Kind::state) return PlannedBlock::Kind::state;
  return value.kind == Value::Kind::workspace ? PlannedBlock::Kind::workspace
                                              : PlannedBlock::Kind::activations;
}

/// Values of one kind on one device: they share blocks with each other only.
struct Pool {
  PlannedBlock::Kind kind = PlannedBlock::Kind::activations;
  int slot = 0;
  std::vector<int> values;
};

/// The pools, that of the largest value first.
std::vector<Pool> pools_of(const Plan& plan) {
  std::vector<int> order;
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    if (plan.values[v].memory_of < 0) order.push_back(static_cast<int>(v));
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return plan.values[static_cast<std::size_t>(a)].bytes >
           plan.values[static_cast<std::size_t>(b)].bytes;
  });
  std::vector<Pool> pools;
  for (const int v : order) {
    const Value& value = plan.values[static_cast<std::size_t>(v)];
    const PlannedBlock::Kind kind = block_kind(value);
    auto pool = std::find_if(pools.begin(), pools.end(), [&](const Pool& known) {
      return known.kind == kind && known.slot == value.slot;
    });
    if (pool == pools.end()) pool = pools.insert(pools.end(), Pool{kind, value.slot, {}});
    pool->values.push_back(v);
  }
  return pools;
}

void place(const Pool& pool, const std::vector<Lifetime>& lives, const std::vector<char>& begins,
           const DeviceInfo& device, Plan& plan) {
  std::vector<PlacementItem> items;
  for (const int v : pool.values) {
    const auto index = static_cast<std::size_t>(v);
    items.push_back({plan.values[index].bytes, lives[index], begins[index] != 0});
  }
  using Sharing = PlacementRules::Sharing;
  const Placement placement = place_items(
      items, {device.memory.base_alignment_bytes, device.memory.max_allocation_bytes,
              shares_whole_places(device) ? Sharing::whole_places : Sharing::any_bytes});
  const auto first_block = static_cast<int>(plan.blocks.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    Value& value = plan.values[static_cast<std::size_t>(pool.values[i])];
    value.block = first_block + placement.places[i].block;
    value.offset_bytes = placement.places[i].offset_bytes;
  }
  for (const std::int64_t bytes : placement.block_bytes) {
    plan.blocks.push_back({pool.kind, bytes, pool.slot});
  }
}

/// The most bytes of the values that `counts` holds for that live at the same step.
template <typename Counts>
std::int64_t largest_live(const Plan& plan, const std::vector<Lifetime>& lives,
                          const Counts& counts) {
  std::vector<std::int64_t> live(plan.steps.size() + 1, 0);
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    if (plan.values[v].memory_of >= 0) continue;
    const std::int64_t bytes = counts(plan.values[v]);
    for (int step = lives[v].first; step <= lives[v].last; ++step) {
      live[static_cast<std::size_t>(step)] += bytes;
    }
  }
  return *std::max_element(live.begin(), live.end());
}

/// The largest live sets, of all values that a session holds and of each kind with the alignment
/// of each value.
void add_live_sets(Plan& plan, const std::vector<Lifetime>& lives,
                   std::span<const DeviceInfo> devices) {
  const auto of_kind = [&](PlannedBlock::Kind kind) {
    return largest_live(plan, lives, [&](const Value& value) {
      const auto& device = devices[static_cast<std::size_t>(value.slot)];
      return block_kind(value) == kind ? round_up(value.bytes, device.memory.base_alignment_bytes)
                                       : 0;
    });
  };
  plan.largest_live_bytes = largest_live(
      plan, lives, [](const Value& value) { return is_fixed(value) ? 0 : value.bytes; });
  plan.largest_live_activation_bytes = of_kind(PlannedBlock::Kind::activations);
  plan.largest_live_workspace_bytes = of_kind(PlannedBlock::Kind::workspace);
}

}  // namespace

void place_memory(Plan& plan, std::span<const DeviceInfo> devices) {
  const auto lives = lifetimes(plan);
  for (Value& value : plan.values) {
    const DeviceInfo& device = devices[static_cast<std::size_t>(value.slot)];
    value.bytes = bytes_of(value.arrangement);
    if (value.bytes > device.memory.max_allocation_bytes) {
      throw UnsupportedError("plan: '" + value.name + "' needs " + std::to_string(value.bytes) +
                             " bytes in one piece; the device allocates at most " +
                             std::to_string(device.memory.max_allocation_bytes));
    }
  }
  const std::vector<char> begins = begins_block(plan);
  for (const Pool& pool : pools_of(plan)) {
    place(pool, lives, begins, devices[static_cast<std::size_t>(pool.slot)], plan);
  }
  for (Value& value : plan.values) {
    if (value.memory_of < 0) continue;
    const Value& owner = plan.values[static_cast<std::size_t>(value.memory_of)];
    value.block = owner.block;
    value.offset_bytes = owner.offset_bytes + value.offset_in_owner_bytes;
  }
  add_live_sets(plan, lives, devices);
}

}  // namespace morton::plan
