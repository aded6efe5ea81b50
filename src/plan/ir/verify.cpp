// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/verify.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/ir/memory_range.hpp"
#include "plan/ir/verify_steps.hpp"
#include "plan/ir/writers.hpp"

namespace morton::plan {
namespace {

template <typename T>
std::string text_of(Id<T> id) {
  return std::to_string(id.index());
}

void verify_places(const Plan& plan, const Devices& devices) {
  for (const auto& block : plan.blocks) {
    const DeviceInfo& device = devices[block.device];
    if (block.bytes > device.memory.max_allocation_bytes) {
      fail_plan("a block of " + std::to_string(block.bytes) +
                " bytes; the device allocates at most " +
                std::to_string(device.memory.max_allocation_bytes));
    }
  }
  for (const auto& value : plan.values) {
    if (!plan.blocks.contains(value.block)) fail_plan("'" + value.name + "' has no block");
    const PlannedBlock& block = plan.blocks[value.block];
    const DeviceInfo& device = devices[value.device];
    if (block.device != value.device) {
      fail_plan("'" + value.name + "' of device " + text_of(value.device) +
                " lies in a block of device " + text_of(block.device));
    }
    if (value.offset_bytes < 0 || value.offset_bytes % device.memory.base_alignment_bytes != 0 ||
        value.offset_bytes + value.bytes > block.bytes) {
      fail_plan("'" + value.name + "' lies at " + std::to_string(value.offset_bytes) + " + " +
                std::to_string(value.bytes) + " in a block of " + std::to_string(block.bytes));
    }
  }
}

/// Every id names something of the plan.
void verify_names(const Plan& plan) {
  const auto check = [&](ValueId value, const std::string& where) {
    if (plan.values.contains(value)) return;
    fail_plan(where + " names value " + text_of(value) + " of " +
              std::to_string(plan.values.size()));
  };
  for (const Step* step : all_steps(plan)) {
    const std::string where = "step " + step->name;
    const KernelLaunch* launch = step->launch();
    if (launch != nullptr && !plan.instances.contains(launch->instance))
      fail_plan(where + " has no kernel");
    if (const Transfer* transfer = step->transfer()) {
      check(transfer->from, where);
      check(transfer->to, where);
    }
    for (const ValueId value : step->reads) check(value, where);
    for (const ValueId value : step->writes) check(value, where);
    for (const StepArgument& argument : step->arguments) {
      if (const PassedValue* passed = argument.value()) check(passed->id, where);
    }
  }
  for (const auto* ports : {&plan.inputs, &plan.outputs, &plan.states}) {
    for (const auto& [name, value] : *ports) check(value, "port '" + name + "'");
  }
}

/// The caller reads and writes on the first device.
void verify_ports(const Plan& plan) {
  for (const auto* ports : {&plan.inputs, &plan.outputs}) {
    for (const auto& [name, value] : *ports) {
      if (plan.values[value].device == kFirstDevice) continue;
      fail_plan("port '" + name + "' is not on device 0");
    }
  }
}

/// What names the memory of another lies there, and comes after it.
void verify_owners(const Plan& plan) {
  for (const ValueId v : plan.values.ids()) {
    const Value& value = plan.values[v];
    if (!value.memory_of) continue;
    if (value.memory_of >= v) fail_plan("'" + value.name + "' names the memory of a later value");
    const Value& owner = plan.values[value.memory_of];
    if (value.block != owner.block ||
        value.offset_bytes != owner.offset_bytes + value.offset_in_owner_bytes ||
        value.offset_in_owner_bytes < 0 ||
        value.offset_in_owner_bytes + value.bytes > owner.bytes) {
      fail_plan("'" + value.name + "' does not lie where '" + owner.name + "' lies");
    }
  }
}

/// Each thing is of one of the devices.
void verify_devices(const Plan& plan, const Devices& devices) {
  if (plan.devices.size() != devices.size()) {
    fail_plan("it is for " + std::to_string(plan.devices.size()) + " devices, verified with " +
              std::to_string(devices.size()));
  }
  const auto check = [&](DeviceIndex device, const std::string& what) {
    if (devices.contains(device)) return;
    fail_plan(what + " has device " + text_of(device) + " of " + std::to_string(devices.size()));
  };
  for (const auto& block : plan.blocks) check(block.device, "a block");
  for (const auto& value : plan.values) check(value.device, "'" + value.name + "'");
  for (const Step* step : all_steps(plan)) check(step->device, "step " + step->name);
}

void verify_transfer(const Plan& plan, const Step& step, const Transfer& transfer) {
  // By division, for what a file says may be any number.
  const auto inside = [&](ValueId value, std::int64_t offset, std::int64_t pitch) {
    const std::int64_t last = plan.values[value].bytes - transfer.bytes;
    if (offset < 0 || transfer.bytes < 1 || transfer.stretches < 1 || offset > last) return false;
    return transfer.stretches == 1 ||
           (pitch >= transfer.bytes && transfer.stretches - 1 <= (last - offset) / pitch);
  };
  if (!inside(transfer.from, transfer.from_offset_bytes, transfer.from_pitch_bytes) ||
      !inside(transfer.to, transfer.to_offset_bytes, transfer.to_pitch_bytes)) {
    fail_plan("step " + step.name + " leaves the value that it reads or writes");
  }
  if (plan.values[transfer.to].device != step.device) {
    fail_plan("step " + step.name + " is not on its target's device");
  }
}

/// What a step works on is memory of its own device, unless it is a transfer.
void verify_memory_of_steps(const Plan& plan) {
  for (const Step& step : plan.steps) {
    if (const Transfer* transfer = step.transfer()) {
      verify_transfer(plan, step, *transfer);
      continue;
    }
    for (const auto* list : {&step.reads, &step.writes}) {
      for (const ValueId value : *list) {
        const DeviceIndex device = plan.values[value].device;
        if (device == step.device) continue;
        fail_plan("step " + step.name + " on device " + text_of(step.device) +
                  " uses a value of device " + text_of(device));
      }
    }
  }
}

/// A step may not write where another live value lies, nor where it reads.
void verify_overlaps(const Plan& plan) {
  const auto lives = lifetimes(plan);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    for (const ValueId written : step.writes) {
      const Value& target = plan.values[written];
      for (const ValueId v : plan.values.ids()) {
        const Value& other = plan.values[v];
        if (v == written || !share_bytes(other, target)) continue;
        const bool live = lives[v].first <= s && s <= lives[v].last;
        const bool read_now = std::ranges::find(step.reads, v) != step.reads.end();
        const bool one_memory = memory_root(plan.values, v) == memory_root(plan.values, written);
        const bool in_place = read_now && one_memory && step.in_place;
        if (live && !in_place && (read_now || !one_memory)) {
          fail_plan("step " + step.name + " writes '" + target.name + "' over '" + other.name +
                    "'");
        }
      }
    }
  }
}

/// What only load steps read may not lie over another such value that is needed at the same step.
void verify_loading(const Plan& plan) {
  if (plan.load_steps.empty()) return;  // compiled ahead: nothing is loaded so
  const auto lives = load_lifetimes(plan);
  for (const ValueId a : plan.values.ids()) {
    const Value& one = plan.values[a];
    if (plan.blocks[one.block].kind != PlannedBlock::Kind::loading) continue;
    for (const ValueId b : plan.values.ids_from(a.moved(1))) {
      if (memory_root(plan.values, a) == memory_root(plan.values, b)) continue;
      if (!share_bytes(one, plan.values[b]) || !overlap(lives[a], lives[b])) continue;
      fail_plan("while it is loaded, '" + one.name + "' lies over '" + plan.values[b].name + "'");
    }
  }
}

/// Weights that take turns may not lie over one another while both are needed.
void verify_turns(const Plan& plan) {
  if (streamed_bytes(plan) == 0) return;
  const auto lives = lifetimes(plan);
  for (const ValueId a : plan.values.ids()) {
    if (!plan.values[a].is_streamed || plan.values[a].memory_of) continue;
    if (!is_fixed(plan.values[a])) fail_plan("'" + plan.values[a].name + "' is streamed");
    for (const ValueId b : plan.values.ids_from(a.moved(1))) {
      if (memory_root(plan.values, b) != b || !overlap(lives[a], lives[b])) continue;
      if (!share_bytes(plan.values[a], plan.values[b])) continue;
      fail_plan("'" + plan.values[a].name + "' lies over '" + plan.values[b].name + "'");
    }
  }
}

/// By value, the step behind which nobody reads it under this name; the caller reads outputs.
Indexed<ValueId, std::size_t> last_reads(const Plan& plan) {
  Indexed<ValueId, std::size_t> last(plan.values.size(), 0);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (const ValueId value : plan.steps[s].reads) last[value] = s;
  }
  for (const auto& [name, value] : plan.outputs) last[value] = plan.steps.size();
  return last;
}

/// Among the names of one memory a step may not write over bytes that were there under another
/// name and are read as such afterwards.
void verify_names_of_one_memory(const Plan& plan) {
  const Writers writers(plan);
  const Indexed<ValueId, std::size_t> last = last_reads(plan);
  const std::size_t loading = plan.load_steps.size();
  for (const ValueId v : plan.values.ids()) {
    const Value& value = plan.values[v];
    const MemoryRange range = range_of(plan.values, v);
    // What the caller or an earlier run left there is complete from the start.
    const bool given = value.kind == Value::Kind::input || value.kind == Value::Kind::state;
    const std::vector<Write> makers = given ? std::vector<Write>() : writers.of(v);
    for (const Write& write : writers.to_memory_of(v)) {
      if (write.step < loading || write.value == v || write.step - loading >= last[v]) continue;
      if (std::ranges::find(makers, write) != makers.end()) continue;
      // A copy into a whole fills what its other parts leave; which bytes, its view says.
      if (writers.is_within(v, write.value) && !write.replaces) continue;
      const bool spoils = std::ranges::any_of(makers, [&](const Write& maker) {
        return maker.step < write.step && overlap(common_part(maker.range, range), write.range);
      });
      if (!spoils && !(given && overlap(range, write.range))) continue;
      fail_plan("step " + plan.steps[write.step - loading].name + " writes '" +
                plan.values[write.value].name + "' over '" + value.name + "', which is read later");
    }
  }
}

void verify_order(const Plan& plan) {
  Indexed<ValueId, char> ready(plan.values.size(), 0);  // by the value at the root of its names
  const auto is_ready = [&](ValueId value) -> char& {
    return ready[memory_root(plan.values, value)];
  };
  for (const ValueId v : plan.values.ids()) {
    if (plan.values[v].kind == Value::Kind::constant) is_ready(v) = 1;
  }
  for (const auto* given : {&plan.inputs, &plan.states}) {
    for (const auto& [name, value] : *given) is_ready(value) = 1;
  }
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      for (const ValueId value : step.reads) {
        if (is_ready(value) != 0) continue;
        fail_plan("step " + step.name + " reads '" + plan.values[value].name +
                  "' before it is written");
      }
      for (const ValueId value : step.writes) {
        if (is_fixed(plan.values[value]) != (steps == &plan.load_steps)) {
          fail_plan("step " + step.name + " writes '" + plan.values[value].name +
                    "' at the wrong time");
        }
        is_ready(value) = 1;
      }
    }
  }
  for (const auto& [name, value] : plan.outputs) {
    if (is_ready(value) == 0) fail_plan("no step writes the output '" + name + "'");
  }
}

}  // namespace

void verify(const Plan& plan, const Devices& devices) {
  verify_devices(plan, devices);
  verify_names(plan);
  verify_images(plan);
  verify_ports(plan);
  verify_owners(plan);
  verify_memory_of_steps(plan);
  verify_launches(plan, devices);
  verify_places(plan, devices);
  verify_overlaps(plan);
  verify_loading(plan);
  verify_turns(plan);
  verify_names_of_one_memory(plan);
  verify_order(plan);
}

}  // namespace morton::plan
