// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "plan/memory.hpp"
#include "plan/plan.hpp"

namespace morton {
namespace {

[[noreturn]] void fail(const std::string& what) { throw InternalError("plan: " + what); }

void verify_places(const Plan& plan, const DeviceInfo& device) {
  for (const auto& value : plan.values) {
    if (value.block < 0 || value.block >= static_cast<int>(plan.blocks.size())) {
      fail("'" + value.name + "' has no block");
    }
    const PlannedBlock& block = plan.blocks[static_cast<std::size_t>(value.block)];
    if (value.offset_bytes % device.base_address_alignment_bytes != 0 ||
        value.offset_bytes + value.bytes > block.bytes) {
      fail("'" + value.name + "' lies at " + std::to_string(value.offset_bytes) + " + " +
           std::to_string(value.bytes) + " in a block of " + std::to_string(block.bytes));
    }
  }
}

/// A step may not write where another live value lies, nor where it reads.
void verify_overlaps(const Plan& plan) {
  const auto lives = lifetimes(plan);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (const int written : plan.steps[s].writes) {
      const Value& target = plan.values[static_cast<std::size_t>(written)];
      for (std::size_t v = 0; v < plan.values.size(); ++v) {
        const Value& other = plan.values[v];
        if (static_cast<int>(v) == written || other.block != target.block) continue;
        const bool live =
            lives[v].first <= static_cast<int>(s) && static_cast<int>(s) <= lives[v].last;
        const bool apart = other.offset_bytes + other.bytes <= target.offset_bytes ||
                           target.offset_bytes + target.bytes <= other.offset_bytes;
        const bool read_now = std::find(plan.steps[s].reads.begin(), plan.steps[s].reads.end(),
                                        static_cast<int>(v)) != plan.steps[s].reads.end();
        // Two names of the same memory at the same place are one value under two shapes.
        const bool shared =
            other.offset_bytes == target.offset_bytes && other.bytes == target.bytes;
        if (live && !apart && (read_now || !shared)) {
          fail("step " + plan.steps[s].name + " writes '" + target.name + "' over '" + other.name +
               "'");
        }
      }
    }
  }
}

void verify_order(const Plan& plan) {
  std::vector<char> ready(plan.values.size(), 0);
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    const auto kind = plan.values[v].kind;
    ready[v] = kind == Value::Kind::constant ? 1 : 0;
  }
  for (const auto& [name, value] : plan.inputs) ready[static_cast<std::size_t>(value)] = 1;
  const auto is_ready = [&](int index) {
    const Value& value = plan.values[static_cast<std::size_t>(index)];
    for (std::size_t v = 0; v < plan.values.size(); ++v) {
      const Value& other = plan.values[v];
      if (ready[v] != 0 && other.block == value.block && other.offset_bytes == value.offset_bytes) {
        return true;
      }
    }
    return false;
  };
  for (const auto& step : plan.steps) {
    for (const int value : step.reads) {
      if (!is_ready(value)) {
        fail("step " + step.name + " reads '" + plan.values[static_cast<std::size_t>(value)].name +
             "' before it is written");
      }
    }
    for (const int value : step.writes) ready[static_cast<std::size_t>(value)] = 1;
  }
}

}  // namespace

void verify(const Plan& plan, const DeviceInfo& device) {
  verify_places(plan, device);
  verify_overlaps(plan);
  verify_order(plan);
}

}  // namespace morton
