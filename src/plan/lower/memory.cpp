// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/memory.hpp"

#include <algorithm>

#include "base/numbers/checked.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/lower/placement.hpp"

namespace morton::plan {
namespace {

using BlockKinds = Indexed<ValueId, PlannedBlock::Kind>;

BlockKinds block_kinds(const Plan& plan) {
  Indexed<ValueId, char> outlives_loading(plan.values.size(), 0);
  for (const Step& step : plan.steps) {
    for (const ValueId value : step.reads) outlives_loading[memory_root(plan.values, value)] = 1;
  }
  for (const Port& output : plan.outputs) {
    outlives_loading[memory_root(plan.values, output.value)] = 1;
  }
  const auto kind_of = [&](ValueId v) {
    const Value& value = plan.values[v];
    if (value.is_streamed) return PlannedBlock::Kind::streamed;
    if (is_fixed(value)) {
      return outlives_loading[memory_root(plan.values, v)] != 0 ? PlannedBlock::Kind::weights
                                                                : PlannedBlock::Kind::loading;
    }
    if (value.kind == Value::Kind::state) return PlannedBlock::Kind::state;
    return value.kind == Value::Kind::workspace ? PlannedBlock::Kind::workspace
                                                : PlannedBlock::Kind::activations;
  };
  BlockKinds kinds;
  for (const ValueId v : plan.values.ids()) kinds.add(kind_of(v));
  return kinds;
}

/// What block a value of a kind lies in. Temporaries take what activations leave free, unless the
/// device shares whole places only: there a limit of the workspace holds for blocks of its own.
PlannedBlock::Kind block_for(PlannedBlock::Kind kind, const DeviceInfo& device) {
  const bool is_workspace = kind == PlannedBlock::Kind::workspace;
  return is_workspace && !shares_whole_places(device) ? PlannedBlock::Kind::activations : kind;
}

/// Values for one kind of block on one device: they share blocks with each other only.
struct Pool {
  PlannedBlock::Kind kind = PlannedBlock::Kind::activations;
  DeviceIndex device;
  std::vector<ValueId> values;
};

/// The pools, that of the largest value first.
std::vector<Pool> pools_of(const Plan& plan, const BlockKinds& kinds, const Devices& devices) {
  std::vector<ValueId> order;
  for (const ValueId v : plan.values.ids()) {
    if (!plan.values[v].memory_of) order.push_back(v);
  }
  std::stable_sort(order.begin(), order.end(), [&](ValueId a, ValueId b) {
    return plan.values[a].bytes > plan.values[b].bytes;
  });
  std::vector<Pool> pools;
  for (const ValueId v : order) {
    const Value& value = plan.values[v];
    const PlannedBlock::Kind kind = block_for(kinds[v], devices[value.device]);
    auto pool = std::find_if(pools.begin(), pools.end(), [&](const Pool& known) {
      return known.kind == kind && known.device == value.device;
    });
    if (pool == pools.end()) pool = pools.insert(pools.end(), Pool{kind, value.device, {}});
    pool->values.push_back(v);
  }
  return pools;
}

void place(const Pool& pool, const Lifetimes& lives, const Indexed<ValueId, char>& begins,
           const DeviceInfo& device, Plan& plan) {
  std::vector<PlacementItem> items;
  for (const ValueId v : pool.values) {
    items.push_back({plan.values[v].bytes, lives[v], begins[v] != 0});
  }
  using Sharing = PlacementRules::Sharing;
  const Placement placement = place_items(
      items, {device.memory.base_alignment_bytes, device.memory.max_allocation_bytes,
              shares_whole_places(device) ? Sharing::whole_places : Sharing::any_bytes});
  const BlockId first_block = plan.blocks.next_id();
  for (std::size_t i = 0; i < items.size(); ++i) {
    Value& value = plan.values[pool.values[i]];
    value.block = first_block.moved(placement.places[i].block.index());
    value.offset_bytes = placement.places[i].offset_bytes;
  }
  for (const std::int64_t bytes : placement.block_bytes) {
    plan.blocks.add({pool.kind, bytes, pool.device});
  }
}

/// The most bytes of the values that `counts` holds for that live at the same step.
template <typename Counts>
std::int64_t largest_live(const Plan& plan, const Lifetimes& lives, const Counts& counts) {
  std::vector<std::int64_t> live(plan.steps.size() + 1, 0);
  for (const ValueId v : plan.values.ids()) {
    if (plan.values[v].memory_of) continue;
    const std::int64_t bytes = counts(v);
    for (std::size_t step = lives[v].first; step <= lives[v].last; ++step) live[step] += bytes;
  }
  return *std::max_element(live.begin(), live.end());
}

/// The largest live sets, of all values that a session holds and of each kind, with the alignment
/// of each value.
void add_live_sets(Plan& plan, const Lifetimes& lives, const BlockKinds& kinds,
                   const Devices& devices) {
  const auto aligned_bytes = [&](ValueId v) {
    const Value& value = plan.values[v];
    return round_up(value.bytes, devices[value.device].memory.base_alignment_bytes);
  };
  const auto of_kind = [&](PlannedBlock::Kind kind) {
    return largest_live(plan, lives,
                        [&](ValueId v) { return kinds[v] == kind ? aligned_bytes(v) : 0; });
  };
  const auto of_session = [&](ValueId v) {
    return is_resident(plan.values[v]) ? 0 : aligned_bytes(v);
  };
  plan.largest_live = {largest_live(plan, lives, of_session),
                       of_kind(PlannedBlock::Kind::activations),
                       of_kind(PlannedBlock::Kind::workspace)};
}

}  // namespace

void place_memory(Plan& plan, const Devices& devices) {
  const Lifetimes lives = lifetimes(plan);
  const Lifetimes load_lives = load_lifetimes(plan);
  for (Value& value : plan.values) {
    const DeviceInfo& device = devices[value.device];
    value.bytes = bytes_of(value.arrangement);
    if (value.bytes > device.memory.max_allocation_bytes) {
      throw UnsupportedError("plan: '" + value.name + "' needs " + std::to_string(value.bytes) +
                             " bytes in one piece; the device allocates at most " +
                             std::to_string(device.memory.max_allocation_bytes));
    }
  }
  const Indexed<ValueId, char> begins = begins_block(plan);
  const BlockKinds kinds = block_kinds(plan);
  for (const Pool& pool : pools_of(plan, kinds, devices)) {
    const DeviceInfo& device = devices[pool.device];
    // Where whole places are shared, sub-buffers would have to be as large as the largest there.
    const bool in_turns = pool.kind == PlannedBlock::Kind::loading && !shares_whole_places(device);
    place(pool, in_turns ? load_lives : lives, begins, device, plan);
  }
  for (Value& value : plan.values) {
    if (!value.memory_of) continue;
    const Value& owner = plan.values[value.memory_of];
    value.block = owner.block;
    value.offset_bytes = owner.offset_bytes + value.offset_in_owner_bytes;
  }
  add_live_sets(plan, lives, kinds, devices);
}

}  // namespace morton::plan
