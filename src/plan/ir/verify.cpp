// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/ir/memory_range.hpp"
#include "plan/ir/plan.hpp"
#include "plan/ir/writers.hpp"

namespace morton::plan {
namespace {

[[noreturn]] void fail(const std::string& what) { throw InternalError("plan: " + what); }

void verify_places(const Plan& plan, std::span<const DeviceInfo> devices) {
  for (const auto& block : plan.blocks) {
    const DeviceInfo& device = devices[static_cast<std::size_t>(block.slot)];
    if (block.bytes > device.memory.max_allocation_bytes) {
      fail("a block of " + std::to_string(block.bytes) + " bytes; the device allocates at most " +
           std::to_string(device.memory.max_allocation_bytes));
    }
  }
  for (const auto& value : plan.values) {
    if (value.block < 0 || value.block >= static_cast<int>(plan.blocks.size())) {
      fail("'" + value.name + "' has no block");
    }
    const PlannedBlock& block = plan.blocks[static_cast<std::size_t>(value.block)];
    const DeviceInfo& device = devices[static_cast<std::size_t>(value.slot)];
    if (block.slot != value.slot) {
      fail("'" + value.name + "' of slot " + std::to_string(value.slot) +
           " lies in a block of slot " + std::to_string(block.slot));
    }
    if (value.offset_bytes < 0 || value.offset_bytes % device.memory.base_alignment_bytes != 0 ||
        value.offset_bytes + value.bytes > block.bytes) {
      fail("'" + value.name + "' lies at " + std::to_string(value.offset_bytes) + " + " +
           std::to_string(value.bytes) + " in a block of " + std::to_string(block.bytes));
    }
  }
}

void verify_names(const Plan& plan) {
  const int count = static_cast<int>(plan.values.size());
  const auto check = [&](std::int64_t value, const std::string& where) {
    if (value < 0 || value >= count) {
      fail(where + " names value " + std::to_string(value) + " of " + std::to_string(count));
    }
  };
  std::vector<Step> all = plan.load_steps;
  all.insert(all.end(), plan.steps.begin(), plan.steps.end());
  for (const Step& step : all) {
    const bool is_kernel = step.kind == Step::Kind::kernel;
    if (is_kernel &&
        (step.instance < 0 || step.instance >= static_cast<int>(plan.instances.size()))) {
      fail("step " + step.name + " has no kernel");
    }
    if (step.kind == Step::Kind::transfer) {
      check(step.transfer.from, "step " + step.name);
      check(step.transfer.to, "step " + step.name);
    }
    for (const int value : step.reads) check(value, "step " + step.name);
    for (const int value : step.writes) check(value, "step " + step.name);
    for (const auto& argument : step.arguments) {
      if (argument.kind == StepArgument::Kind::value) check(argument.number, "step " + step.name);
    }
  }
  for (const auto* ports : {&plan.inputs, &plan.outputs, &plan.states}) {
    for (const auto& [name, value] : *ports) check(value, "port '" + name + "'");
  }
  // The caller reads and writes on the first device.
  for (const auto* ports : {&plan.inputs, &plan.outputs}) {
    for (const auto& [name, value] : *ports) {
      if (plan.values[static_cast<std::size_t>(value)].slot == 0) continue;
      fail("port '" + name + "' is not on slot 0");
    }
  }
  for (int v = 0; v < count; ++v) {
    const Value& value = plan.values[static_cast<std::size_t>(v)];
    if (value.memory_of < 0) continue;
    if (value.memory_of >= v) fail("'" + value.name + "' names the memory of a later value");
    const Value& owner = plan.values[static_cast<std::size_t>(value.memory_of)];
    if (value.block != owner.block ||
        value.offset_bytes != owner.offset_bytes + value.offset_in_owner_bytes ||
        value.offset_in_owner_bytes < 0 ||
        value.offset_in_owner_bytes + value.bytes > owner.bytes) {
      fail("'" + value.name + "' does not lie where '" + owner.name + "' lies");
    }
  }
}

/// Slots exist; what a step works on is memory of its own device.
void verify_slots(const Plan& plan, std::span<const DeviceInfo> devices) {
  if (plan.devices.size() != devices.size()) {
    fail("it is for " + std::to_string(plan.devices.size()) + " devices, verified with " +
         std::to_string(devices.size()));
  }
  const auto check = [&](int slot, const std::string& what) {
    if (slot < 0 || slot >= static_cast<int>(devices.size())) {
      fail(what + " has slot " + std::to_string(slot) + " of " + std::to_string(devices.size()));
    }
  };
  for (const auto& block : plan.blocks) check(block.slot, "a block");
  for (const auto& value : plan.values) check(value.slot, "'" + value.name + "'");
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) check(step.slot, "step " + step.name);
  }
}

void verify_transfers(const Plan& plan) {
  const auto slot_of = [&](int value) { return plan.values[static_cast<std::size_t>(value)].slot; };
  for (const Step& step : plan.steps) {
    if (step.kind != Step::Kind::transfer) {
      for (const auto* list : {&step.reads, &step.writes}) {
        for (const int value : *list) {
          if (slot_of(value) == step.slot) continue;
          fail("step " + step.name + " on slot " + std::to_string(step.slot) +
               " uses a value of slot " + std::to_string(slot_of(value)));
        }
      }
      continue;
    }
    const Transfer& transfer = step.transfer;
    const auto inside = [&](int value, std::int64_t offset) {
      return offset >= 0 && transfer.bytes >= 1 &&
             offset + transfer.bytes <= plan.values[static_cast<std::size_t>(value)].bytes;
    };
    if (!inside(transfer.from, transfer.from_offset_bytes) ||
        !inside(transfer.to, transfer.to_offset_bytes)) {
      fail("step " + step.name + " leaves the value that it reads or writes");
    }
    if (slot_of(transfer.to) != step.slot) fail("step " + step.name + " has not its target's slot");
  }
}

/// A step may not write where another live value lies, nor where it reads.
void verify_overlaps(const Plan& plan) {
  const auto lives = lifetimes(plan);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    for (const int written : step.writes) {
      const Value& target = plan.values[static_cast<std::size_t>(written)];
      for (std::size_t v = 0; v < plan.values.size(); ++v) {
        const Value& other = plan.values[v];
        const int index = static_cast<int>(v);
        if (index == written || other.block != target.block) continue;
        const bool live =
            lives[v].first <= static_cast<int>(s) && static_cast<int>(s) <= lives[v].last;
        const bool apart = other.offset_bytes + other.bytes <= target.offset_bytes ||
                           target.offset_bytes + target.bytes <= other.offset_bytes;
        const bool read_now =
            std::find(step.reads.begin(), step.reads.end(), index) != step.reads.end();
        const bool one_memory =
            memory_root(plan.values, index) == memory_root(plan.values, written);
        const bool in_place = read_now && one_memory && step.in_place;
        if (live && !apart && !in_place && (read_now || !one_memory)) {
          fail("step " + step.name + " writes '" + target.name + "' over '" + other.name + "'");
        }
      }
    }
  }
}

/// By value, the step behind which nobody reads it under this name; the caller reads outputs.
std::vector<std::size_t> last_reads(const Plan& plan) {
  std::vector<std::size_t> last(plan.values.size(), 0);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (const int value : plan.steps[s].reads) last[static_cast<std::size_t>(value)] = s;
  }
  for (const auto& [name, value] : plan.outputs) {
    last[static_cast<std::size_t>(value)] = plan.steps.size();
  }
  return last;
}

MemoryRange common_part(const MemoryRange& a, const MemoryRange& b) {
  return {a.root, std::max(a.begin_bytes, b.begin_bytes), std::min(a.end_bytes, b.end_bytes)};
}

/// Among the names of one memory a step may not write over bytes that were there under another
/// name and are read as such afterwards.
void verify_names_of_one_memory(const Plan& plan) {
  const Writers writers(plan);
  const std::vector<std::size_t> last = last_reads(plan);
  const std::size_t loading = plan.load_steps.size();
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    const Value& value = plan.values[v];
    const auto index = static_cast<int>(v);
    const MemoryRange range = range_of(plan.values, index);
    // What the caller or an earlier run left there is complete from the start.
    const bool given = value.kind == Value::Kind::input || value.kind == Value::Kind::state;
    const std::vector<Write> makers = given ? std::vector<Write>() : writers.of(index);
    for (const Write& write : writers.to_memory_of(index)) {
      if (write.step < loading || write.value == index || write.step - loading >= last[v]) continue;
      if (std::ranges::find(makers, write) != makers.end()) continue;
      // A copy into a whole fills what its other parts leave; which bytes, its view says.
      if (writers.is_within(index, write.value) && !write.replaces) continue;
      const bool spoils = std::ranges::any_of(makers, [&](const Write& maker) {
        return maker.step < write.step && overlap(common_part(maker.range, range), write.range);
      });
      if (!spoils && !(given && overlap(range, write.range))) continue;
      fail("step " + plan.steps[write.step - loading].name + " writes '" +
           plan.values[static_cast<std::size_t>(write.value)].name + "' over '" + value.name +
           "', which is read later");
    }
  }
}

void verify_order(const Plan& plan) {
  std::vector<char> ready(plan.values.size(), 0);  // by the value at the root of its names
  const auto is_ready = [&](int value) -> char& {
    return ready[static_cast<std::size_t>(memory_root(plan.values, value))];
  };
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    if (plan.values[v].kind == Value::Kind::constant) is_ready(static_cast<int>(v)) = 1;
  }
  for (const auto* given : {&plan.inputs, &plan.states}) {
    for (const auto& [name, value] : *given) is_ready(value) = 1;
  }
  const auto name_of = [&](int value) { return plan.values[static_cast<std::size_t>(value)].name; };
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const auto& step : *steps) {
      for (const int value : step.reads) {
        if (is_ready(value) == 0) {
          fail("step " + step.name + " reads '" + name_of(value) + "' before it is written");
        }
      }
      for (const int value : step.writes) {
        const bool fixed = is_fixed(plan.values[static_cast<std::size_t>(value)]);
        if (fixed != (steps == &plan.load_steps)) {
          fail("step " + step.name + " writes '" + name_of(value) + "' at the wrong time");
        }
        is_ready(value) = 1;
      }
    }
  }
  for (const auto& [name, value] : plan.outputs) {
    if (is_ready(value) == 0) fail("no step writes the output '" + name + "'");
  }
}

void verify_launches(const std::vector<Step>& steps, std::span<const DeviceInfo> devices) {
  for (const Step& step : steps) {
    if (step.kind != Step::Kind::kernel) continue;
    const DeviceInfo& device = devices[static_cast<std::size_t>(step.slot)];
    std::int64_t work_items = 1;
    for (std::size_t i = 0; i < step.local.size(); ++i) {
      work_items *= step.local[i];
      if (step.local[i] < 1 || step.local[i] > device.compute.max_work_item_sizes[i] ||
          step.global[i] < 1 || step.global[i] % step.local[i] != 0) {
        fail("step " + step.name + " has global size " + std::to_string(step.global[i]) +
             " and local size " + std::to_string(step.local[i]) + " in dimension " +
             std::to_string(i));
      }
    }
    if (work_items > device.compute.max_work_group_size) {
      fail("step " + step.name + " has work-groups of " + std::to_string(work_items) +
           "; the device takes " + std::to_string(device.compute.max_work_group_size));
    }
  }
}

}  // namespace

void verify(const Plan& plan, std::span<const DeviceInfo> devices) {
  verify_slots(plan, devices);
  verify_names(plan);
  verify_transfers(plan);
  verify_launches(plan.load_steps, devices);
  verify_launches(plan.steps, devices);
  verify_places(plan, devices);
  verify_overlaps(plan);
  verify_names_of_one_memory(plan);
  verify_order(plan);
}

}  // namespace morton::plan
