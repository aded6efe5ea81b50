// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/plan_archive.hpp"

#include <limits>

#include "base/error.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/ir/verify.hpp"

namespace morton::plan {
namespace {

/// Sizes beyond this are damage, and sums of two of them do not overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

void check_values(const Plan& plan, ArchivedConstants constants, const std::string& where) {
  for (const Value& value : plan.values) {
    const auto fail = [&](const std::string& why) {
      throw ModelError(where + ": is damaged: value '" + value.name + "' " + why);
    };
    validate(value.arrangement);
    if (value.bytes < 0 || value.bytes > kMostBytes || value.offset_bytes > kMostBytes) {
      fail("has " + std::to_string(value.bytes) + " bytes at " +
           std::to_string(value.offset_bytes));
    }
    if (value.kind == Value::Kind::derived && constants == ArchivedConstants::packed) {
      fail("is computed from constants");
    }
    if (value.kind == Value::Kind::state &&
        static_cast<std::int64_t>(value.data.bytes()) != value.bytes) {
      fail("starts with " + std::to_string(value.data.bytes()) + " bytes of " +
           std::to_string(value.bytes));
    }
  }
}

void check_steps(const Plan& plan, const std::string& where) {
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      if (step.transfer() != nullptr) {
        throw ModelError(where + ": is damaged: step " + step.name + " is a transfer");
      }
      for (const StepArgument& argument : step.arguments) {
        const std::int64_t* integer = argument.integer();
        if (integer != nullptr && (*integer < std::numeric_limits<std::int32_t>::min() ||
                                   *integer > std::numeric_limits<std::int32_t>::max())) {
          throw ModelError(where + ": is damaged: step " + step.name + " has the argument " +
                           argument.name + " = " + std::to_string(*integer));
        }
      }
    }
  }
}

/// Each instance belongs to one program, and no program is empty.
void check_programs(const Plan& plan, const std::string& where) {
  Indexed<InstanceId, int> uses(plan.instances.size(), 0);
  for (const auto& program : plan.programs) {
    if (program.empty()) throw ModelError(where + ": is damaged: a program has no kernels");
    for (const InstanceId instance : program) {
      if (!uses.contains(instance) || ++uses[instance] > 1) {
        throw ModelError(where + ": is damaged: a program names the kernel " +
                         std::to_string(instance.index()));
      }
    }
  }
  for (const int count : uses) {
    if (count == 0) throw ModelError(where + ": is damaged: a kernel is in no program");
  }
}

/// Where the driver bears no sub-buffers that overlap in part, a plan that was made for another
/// device may have some.
void require_whole_places(const Plan& plan, const DeviceInfo& device, const std::string& where) {
  if (!shares_whole_places(device)) return;
  for (const ValueId a : plan.values.ids()) {
    for (ValueId b(0); b < a; b = b.moved(1)) {
      const Value& one = plan.values[a];
      const Value& other = plan.values[b];
      const bool apart = one.block != other.block || one.bytes == 0 || other.bytes == 0 ||
                         one.offset_bytes + one.bytes <= other.offset_bytes ||
                         other.offset_bytes + other.bytes <= one.offset_bytes;
      if (apart || one.offset_bytes == other.offset_bytes) continue;
      throw UnsupportedError(where + ": was planned for a device that recycles parts of memory; '" +
                             one.name + "' and '" + other.name + "' overlap in part, which " +
                             device.name + "'s driver cannot bear (" +
                             std::string(kOverlappingSubBuffers) +
                             "); compile the model on this device");
    }
  }
}

}  // namespace

Plan with_packed_constants(Plan plan) {
  plan.load_steps.clear();
  for (Value& value : plan.values) {
    if (!is_fixed(value)) continue;
    value.kind = Value::Kind::constant;
    value.data = Tensor();
    value.view.reset();
    value.view_names.clear();
  }
  return plan;
}

void check_archived(const Plan& plan, const DeviceInfo& device, const std::string& where,
                    ArchivedConstants constants) {
  try {
    check_values(plan, constants, where);
    check_steps(plan, where);
    check_programs(plan, where);
    for (const PlannedBlock& block : plan.blocks) {
      if (block.bytes < 0 || block.bytes > kMostBytes) {
        throw ModelError(where + ": is damaged: a block of " + std::to_string(block.bytes) +
                         " bytes");
      }
    }
    verify(plan, device);
  } catch (const InternalError& error) {
    throw ModelError(where + ": its plan is damaged or does not fit this device: " + error.what());
  }
  require_whole_places(plan, device, where);
}

}  // namespace morton::plan
