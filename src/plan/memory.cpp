// SPDX-License-Identifier: Apache-2.0
#include "plan/memory.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"

namespace morton {
namespace {

bool lives_all_through(const Value& value) {
  return value.kind == Value::Kind::input || value.kind == Value::Kind::output ||
         value.kind == Value::Kind::state || is_fixed(value);
}

PlannedBlock::Kind block_kind(const Value& value) {
  if (is_fixed(value)) return PlannedBlock::Kind::weights;
  if (value.kind == Value::Kind::state) return PlannedBlock::Kind::state;
  return value.kind == Value::Kind::workspace ? PlannedBlock::Kind::workspace
                                              : PlannedBlock::Kind::activations;
}

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Places values largest first, each at the lowest offset of the first block where it fits beside
/// the placed ones that live at the same time.
class Placer {
 public:
  Placer(Plan& plan, std::vector<Lifetime> lives, std::span<const DeviceInfo> devices)
      : plan_(plan),
        lives_(std::move(lives)),
        devices_(devices),
        begins_block_(begins_block(plan)) {}

  void place(int index) {
    Value& value = plan_.values[static_cast<std::size_t>(index)];
    const PlannedBlock::Kind kind = block_kind(value);
    for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
      if (plan_.blocks[b].kind != kind || plan_.blocks[b].slot != value.slot) continue;
      const std::int64_t offset = lowest_offset(index, static_cast<int>(b));
      if (offset != 0 && begins_block_[static_cast<std::size_t>(index)] != 0) continue;
      if (offset + value.bytes > device_of(value).max_allocation_bytes) continue;
      put(index, static_cast<int>(b), offset);
      return;
    }
    plan_.blocks.push_back({kind, 0, value.slot});
    put(index, static_cast<int>(plan_.blocks.size()) - 1, 0);
  }

 private:
  const DeviceInfo& device_of(const Value& value) const {
    return devices_[static_cast<std::size_t>(value.slot)];
  }

  void put(int index, int block, std::int64_t offset) {
    Value& value = plan_.values[static_cast<std::size_t>(index)];
    value.block = block;
    value.offset_bytes = offset;
    auto& bytes = plan_.blocks[static_cast<std::size_t>(block)].bytes;
    bytes = std::max(bytes, offset + value.bytes);
    placed_.push_back(index);
  }

  std::int64_t lowest_offset(int index, int block) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (const int other : placed_) {
      const Value& value = plan_.values[static_cast<std::size_t>(other)];
      if (value.block != block) continue;
      if (!overlap(lives_[static_cast<std::size_t>(index)],
                   lives_[static_cast<std::size_t>(other)])) {
        continue;
      }
      taken.emplace_back(value.offset_bytes, value.offset_bytes + value.bytes);
    }
    std::sort(taken.begin(), taken.end());
    const Value& placed = plan_.values[static_cast<std::size_t>(index)];
    std::int64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (begin - offset >= placed.bytes) break;
      offset = std::max(offset, round_up(end, device_of(placed).base_address_alignment_bytes));
    }
    return offset;
  }

  Plan& plan_;
  std::vector<Lifetime> lives_;
  std::span<const DeviceInfo> devices_;
  std::vector<char> begins_block_;
  std::vector<int> placed_;
};

std::int64_t largest_live(const Plan& plan, const std::vector<Lifetime>& lives) {
  std::int64_t largest = 0;
  for (int step = 0; step < std::max<int>(1, static_cast<int>(plan.steps.size())); ++step) {
    std::int64_t live = 0;
    for (std::size_t v = 0; v < plan.values.size(); ++v) {
      if (is_fixed(plan.values[v]) || plan.values[v].memory_of >= 0) continue;
      if (lives[v].first <= step && step <= lives[v].last) live += plan.values[v].bytes;
    }
    largest = std::max(largest, live);
  }
  return largest;
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

void place_memory(Plan& plan, std::span<const DeviceInfo> devices) {
  auto lives = lifetimes(plan);
  for (std::size_t v = 0; v < lives.size(); ++v) {
    const auto& quirks = devices[static_cast<std::size_t>(plan.values[v].slot)].quirks;
    if (std::find(quirks.begin(), quirks.end(), kOverlappingSubBuffers) == quirks.end()) continue;
    // Nothing is recycled: values that live all through never share bytes.
    lives[v] = {0, std::max(0, static_cast<int>(plan.steps.size()) - 1)};
  }
  std::vector<int> order;
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    Value& value = plan.values[v];
    const DeviceInfo& device = devices[static_cast<std::size_t>(value.slot)];
    value.bytes = bytes_of(value.arrangement);
    if (value.bytes > device.max_allocation_bytes) {
      throw UnsupportedError("plan: '" + value.name + "' needs " + std::to_string(value.bytes) +
                             " bytes in one piece; the device allocates at most " +
                             std::to_string(device.max_allocation_bytes));
    }
    if (value.memory_of < 0) order.push_back(static_cast<int>(v));
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return plan.values[static_cast<std::size_t>(a)].bytes >
           plan.values[static_cast<std::size_t>(b)].bytes;
  });
  Placer placer(plan, lives, devices);
  for (const int value : order) placer.place(value);
  for (Value& value : plan.values) {
    if (value.memory_of < 0) continue;
    const Value& owner = plan.values[static_cast<std::size_t>(value.memory_of)];
    value.block = owner.block;
    value.offset_bytes = owner.offset_bytes;
  }
  plan.largest_live_bytes = largest_live(plan, lives);
}

}  // namespace morton
