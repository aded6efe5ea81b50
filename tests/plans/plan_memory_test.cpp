// SPDX-License-Identifier: Apache-2.0
//
// Where values lie: never over one another while they live, and not much more memory than the
// largest live set, on random plans and on real ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/error.hpp"
#include "plan/ir/verify.hpp"
#include "plan/lower/memory.hpp"
#include "plan/lower/streaming.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kAlignment = 128;

DeviceInfo device_with(std::int64_t max_allocation_bytes) {
  DeviceInfo device = saved_device("mali_t628");
  device.memory.base_alignment_bytes = kAlignment;
  device.memory.max_allocation_bytes = max_allocation_bytes;
  return device;
}

/// Steps that each read some earlier results and write one; some results have second names.
Plan random_plan(std::mt19937_64& generator) {
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return from +
           static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(to - from + 1));
  };
  Plan plan;
  plan.devices = {PlannedDevice{"a test's", ""}};
  const auto add = [&](Value::Kind kind, std::int64_t elements) {
    Value value;
    value.name = "v" + std::to_string(plan.values.size());
    value.kind = kind;
    value.arrangement = row_major_arrangement(DType::f32, {elements});
    return plan.values.add(value);
  };
  std::vector<ValueId> results{add(Value::Kind::input, draw(0, 5000))};
  plan.inputs.push_back({"x", results[0]});
  const std::int64_t steps = draw(1, 40);
  for (std::int64_t s = 0; s < steps; ++s) {
    Step step;
    step.name = "step" + std::to_string(s);
    for (std::int64_t r = draw(1, 3); r > 0; --r) {
      const std::int64_t last = static_cast<std::int64_t>(results.size()) - 1;
      // Mostly recent results, as networks do, and some old ones.
      const std::int64_t from = draw(0, 3) == 0 ? 0 : std::max<std::int64_t>(0, last - 2);
      step.reads.push_back(results[static_cast<std::size_t>(draw(from, last))]);
    }
    const auto kind = draw(0, 4) == 0 ? Value::Kind::workspace : Value::Kind::activation;
    step.writes.push_back(add(kind, draw(1, 20000)));
    results.push_back(step.writes[0]);
    if (draw(0, 5) == 0) {
      const Value original = plan.values.back();
      const ValueId name = add(original.kind, original.arrangement.tensor_shape[0]);
      plan.values[name].memory_of = step.writes[0];
      results.push_back(name);
    }
    step.action = KernelLaunch{InstanceId(0)};
    plan.steps.push_back(std::move(step));
  }
  plan.instances.resize(1);
  const ValueId last = plan.steps.back().writes[0];
  plan.values[last].kind = Value::Kind::output;
  for (Value& value : plan.values) {
    if (value.memory_of == last) value.kind = Value::Kind::output;
  }
  plan.outputs.push_back({"y", last});
  return plan;
}

/// Fails where two values of different memory share a byte during a step that both live in. Written
/// apart from `verify`, which looks at writes.
void expect_apart(const Plan& plan) {
  const auto in_runs = lifetimes(plan);
  const auto in_loading = load_lifetimes(plan);
  const auto life_of = [&](ValueId v) {
    const bool is_loading = plan.blocks[plan.values[v].block].kind == PlannedBlock::Kind::loading;
    return is_loading ? in_loading[v] : in_runs[v];
  };
  const auto root = [&](ValueId v) {
    while (plan.values[v].memory_of) v = plan.values[v].memory_of;
    return v;
  };
  for (const ValueId a : plan.values.ids()) {
    for (const ValueId b : plan.values.ids_from(a.moved(1))) {
      const Value& one = plan.values[a];
      const Value& other = plan.values[b];
      if (root(a) == root(b)) {
        EXPECT_EQ(one.offset_bytes, other.offset_bytes);
        EXPECT_EQ(one.block, other.block);
        continue;
      }
      const Lifetime life = life_of(a), other_life = life_of(b);
      const bool both_live = life.first <= other_life.last && other_life.first <= life.last;
      const bool apart = one.block != other.block ||
                         one.offset_bytes + one.bytes <= other.offset_bytes ||
                         other.offset_bytes + other.bytes <= one.offset_bytes;
      ASSERT_TRUE(!both_live || apart) << one.name << " and " << other.name;
    }
  }
}

TEST(PlanMemory, RandomPlansNeverOverlapWhileLive) {
  double worst = 0.0;
  double sum = 0.0;
  constexpr int kPlans = 200;
  for (int seed = 0; seed < kPlans; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 generator(static_cast<std::uint64_t>(seed));
    Plan plan = random_plan(generator);
    const DeviceInfo device = device_with(std::int64_t{1} << 30);
    place_memory(plan, device);
    expect_apart(plan);
    verify(plan, device);
    const std::int64_t used = block_bytes(plan, PlannedBlock::Kind::activations) +
                              block_bytes(plan, PlannedBlock::Kind::workspace);
    const double share = static_cast<double>(used) /
                         static_cast<double>(std::max<std::int64_t>(1, plan.largest_live.all));
    // The last value of the block is not rounded up.
    EXPECT_GT(used + kAlignment, plan.largest_live.all);
    worst = std::max(worst, share);
    sum += share;
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LE(worst, 1.2);
  EXPECT_LE(sum / kPlans, 1.02);
}

TEST(PlanMemory, SmallAllocationsMakeMoreBlocks) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 generator(seed);
    Plan plan = random_plan(generator);
    const DeviceInfo device = device_with(80000);
    place_memory(plan, device);
    for (const auto& block : plan.blocks)
      EXPECT_LE(block.bytes, device.memory.max_allocation_bytes);
    expect_apart(plan);
    verify(plan, device);
  }
}

TEST(PlanMemory, PartsAreNotSharedWhereTheDriverCannotBearIt) {
  DeviceInfo device = device_with(std::int64_t{1} << 30);
  device.quirks.emplace_back(kOverlappingSubBuffers);
  double sum = 0.0;
  constexpr int kPlans = 100;
  for (std::uint64_t seed = 0; seed < kPlans; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 generator(seed);
    Plan plan = random_plan(generator);
    place_memory(plan, device);
    expect_apart(plan);
    verify(plan, device);
    // As the runner makes them: one sub-buffer where values begin at the same byte.
    std::map<std::pair<BlockId, std::int64_t>, std::int64_t> ends;
    for (const Value& value : plan.values) {
      std::int64_t& end = ends[{value.block, value.offset_bytes}];
      end = std::max(end, value.offset_bytes + value.bytes);
    }
    for (const auto& [start, end] : ends) {
      const auto next = ends.upper_bound(start);
      if (next == ends.end() || next->first.first != start.first) continue;
      ASSERT_LE(end, next->first.second);
    }
    const std::int64_t used = block_bytes(plan, PlannedBlock::Kind::activations);
    sum += static_cast<double>(used) /
           static_cast<double>(std::max<std::int64_t>(1, plan.largest_live.activations));
  }
  EXPECT_LE(sum / kPlans, 1.2);
}

/// Filters of two layers, each read by a load step that makes something of it.
Plan plan_with_load_steps() {
  std::mt19937_64 generator(1);
  Plan plan = random_plan(generator);
  for (const char* layer : {"one", "two"}) {
    const auto add = [&](Value::Kind kind, std::int64_t elements) {
      Value value;
      value.name = layer;
      value.kind = kind;
      value.arrangement = row_major_arrangement(DType::f32, {elements});
      return plan.values.add(value);
    };
    const ValueId filters = add(Value::Kind::constant, 900);
    const ValueId transformed = add(Value::Kind::derived, 1600);
    Step step;
    step.name = layer;
    step.reads = {filters};
    step.writes = {transformed};
    step.action = KernelLaunch{InstanceId(0)};
    plan.load_steps.push_back(step);
    plan.steps.back().reads.push_back(transformed);
  }
  return plan;
}

TEST(PlanMemory, WhatOnlyLoadingReadsTakesTurns) {
  Plan plan = plan_with_load_steps();
  const DeviceInfo device = device_with(std::int64_t{1} << 30);
  place_memory(plan, device);
  verify(plan, device);
  EXPECT_EQ(block_bytes(plan, PlannedBlock::Kind::loading), 3600);

  // Both at one time may not lie there.
  plan.load_steps[1].reads.push_back(plan.load_steps[0].reads[0]);
  EXPECT_THROW(verify(plan, device), InternalError);
  place_memory(plan, device);
  verify(plan, device);
  EXPECT_GE(block_bytes(plan, PlannedBlock::Kind::loading), 7200);

  Plan in_whole_places = plan_with_load_steps();
  DeviceInfo other = device;
  other.quirks.emplace_back(kOverlappingSubBuffers);
  place_memory(in_whole_places, other);
  EXPECT_GE(block_bytes(in_whole_places, PlannedBlock::Kind::loading), 7200);
}

/// Each step reads weights of its own, of 1 to 8 KiB.
Plan plan_with_weights(std::size_t steps) {
  Plan plan;
  plan.devices = {PlannedDevice{"a test's", ""}};
  const auto add = [&](Value::Kind kind, std::size_t number, std::int64_t elements) {
    Value value;
    value.name = "v" + std::to_string(number);
    value.kind = kind;
    value.arrangement = row_major_arrangement(DType::f32, {elements});
    return plan.values.add(value);
  };
  ValueId last = add(Value::Kind::input, 0, 10);
  plan.inputs.push_back({"x", last});
  for (std::size_t s = 0; s < steps; ++s) {
    Step step;
    step.name = "step" + std::to_string(s);
    step.reads = {last,
                  add(Value::Kind::constant, s, 256 * (1 + static_cast<std::int64_t>(s * 5 % 8)))};
    last = add(s + 1 == steps ? Value::Kind::output : Value::Kind::activation, s, 10);
    step.writes = {last};
    step.action = KernelLaunch{InstanceId(0)};
    plan.steps.push_back(std::move(step));
  }
  plan.instances.resize(1);
  plan.outputs.push_back({"y", last});
  return plan;
}

TEST(PlanMemory, WeightsTakeTurnsWithinALimit) {
  const DeviceInfo device = device_with(std::int64_t{1} << 30);
  for (const std::int64_t kib : {24, 40, 1000}) {
    Plan plan = plan_with_weights(32);
    place_in_turns(plan, device, kib << 10);
    verify(plan, device);
    EXPECT_LE(weight_memory(plan), kib << 10);
    EXPECT_EQ(streamed_bytes(plan) > 0, kib < 144);
  }
  // The largest two follow each other: less room than for them there is never.
  Plan plan = plan_with_weights(32);
  place_in_turns(plan, device, 1024);
  verify(plan, device);
  EXPECT_GE(weight_memory(plan), 12 << 10);

  // Neither may lie over the next one, which comes while it is read.
  const auto streamed = std::ranges::find_if(plan.values, &Value::is_streamed);
  const Lifetimes lives = lifetimes(plan);
  const Value& one = *streamed;
  for (const ValueId v : plan.values.ids()) {
    Value& other = plan.values[v];
    if (&other == &one || !other.is_streamed || lives[v].first > 1) continue;
    other.offset_bytes = one.offset_bytes;
    EXPECT_THROW(verify(plan, device), InternalError);
    return;
  }
  FAIL() << "no weights come while the first step runs";
}

TEST(PlanMemory, AValueLargerThanAnyAllocationIsRefused) {
  std::mt19937_64 generator(1);
  Plan plan = random_plan(generator);
  try {
    place_memory(plan, device_with(100));
    FAIL() << "accepted";
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("allocates at most 100"), std::string::npos)
        << error.what();
  }
}

TEST(PlanMemory, NetworksTakeLittleMoreThanTheirLargestLiveSet) {
  for (const char* network : {"lenet5", "mlp", "small_cnn", "residual"}) {
    for (const auto& name : saved_devices()) {
      for (const std::int64_t batch : {1, 17}) {
        SCOPED_TRACE(std::string(network) + " on " + name + ", batch " + std::to_string(batch));
        const Plan plan = plan_of(network_named(network), batch, saved_device(name));
        expect_apart(plan);
        const auto expect_little_more = [](std::int64_t used, std::int64_t least) {
          EXPECT_LE(static_cast<double>(used), 1.05 * static_cast<double>(least));
        };
        const std::int64_t activations = block_bytes(plan, PlannedBlock::Kind::activations);
        const std::int64_t workspace = block_bytes(plan, PlannedBlock::Kind::workspace);
        if (shares_whole_places(saved_device(name))) {
          expect_little_more(activations, plan.largest_live.activations);
          expect_little_more(workspace, plan.largest_live.workspace);
        } else {
          EXPECT_EQ(workspace, 0);
          expect_little_more(activations, plan.largest_live.all);
        }
      }
    }
  }
}

}  // namespace
}  // namespace morton::test
