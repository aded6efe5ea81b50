// SPDX-License-Identifier: Apache-2.0
//
// Parts that are computed where the whole lies, and results that are written over what dies.
#include <gtest/gtest.h>

#include "plan/lower/in_place.hpp"
#include "plan/lower/join_parts.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// Schedules of elementwise steps and of copies between parts and wholes.
class ScheduleBuilder {
 public:
  ValueId value(const Shape& shape, Value::Kind kind = Value::Kind::activation) {
    Value value;
    value.name = "v" + std::to_string(schedule_.values.size());
    value.kind = kind;
    value.arrangement = row_major_arrangement(DType::f32, shape);
    return schedule_.values.add(std::move(value));
  }
  ValueId input(const Shape& shape) {
    const ValueId given = value(shape, Value::Kind::input);
    schedule_.inputs.push_back({"x" + std::to_string(given.index()), given});
    return given;
  }
  void output(ValueId value) { schedule_.outputs.push_back({"y", value}); }

  /// to = tanh(from), with `side` as a further operand.
  void map(ValueId from, ValueId to, ValueId side = {}) {
    const Shape& shape = shape_of(to);
    std::vector<Side> sides;
    Chain chain;
    if (!side) {
      chain.append(ScalarOp::tanh, {ScalarRef::input(0)});
    } else {
      chain.input_count = 2;
      chain.append(ScalarOp::add, {ScalarRef::input(0), ScalarRef::input(1)});
      sides.push_back({TensorId(0), shape_of(side)});
    }
    ScheduledKernel kernel;
    kernel.choice.bound = std::make_shared<const BoundProblem>(
        elementwise_problem(TensorId(0), TensorId(1), shape, chain, sides));
    kernel.choice.estimated_us = 1.0;
    kernel.values = {{"src0", from}, {"dst", to}};
    if (side) kernel.sides.push_back(side);
    add(std::move(kernel));
  }
  ValueId mapped(ValueId from) {
    const ValueId to = value(shape_of(from));
    map(from, to);
    return to;
  }

  enum class Way { join, take_apart };
  /// Copies between `part` and the elements of `whole` from `start` on along `axis`.
  void copy(ValueId part, ValueId whole, std::size_t axis, std::int64_t start, Way way) {
    const Shape& shape = shape_of(part);
    ScheduledKernel kernel;
    BoundProblem bound = elementwise_problem(TensorId(0), TensorId(1), shape, Chain{}, {});
    kernel.choice.estimated_us = 1.0;
    const auto dimensions = numbered_dimensions(shape.size());
    std::vector<Expression> coordinates, extents;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Expression own = Expression::variable(coordinate_name(dimensions[d]));
      coordinates.push_back(d == axis ? own + Expression(start) : own);
      extents.emplace_back(shape_of(whole)[d]);
    }
    const bool joins = way == Way::join;
    bound.operands[joins ? "dst" : "src0"].view = View::mapped(dimensions, coordinates, extents);
    kernel.choice.bound = std::make_shared<const BoundProblem>(std::move(bound));
    kernel.values = {{"src0", joins ? part : whole}, {"dst", joins ? whole : part}};
    add(std::move(kernel));
  }

  Schedule& schedule() { return schedule_; }
  const Shape& shape_of(ValueId value) const {
    return schedule_.values[value].arrangement.tensor_shape;
  }

 private:
  void add(ScheduledKernel kernel) {
    schedule_.estimated_us += kernel.choice.estimated_us;
    schedule_.kernels.push_back(std::move(kernel));
  }
  Schedule schedule_;
};

using Way = ScheduleBuilder::Way;

DeviceInfo aligned_to(std::int64_t bytes) {
  DeviceInfo device = saved_device("pocl_cpu");
  device.memory.base_alignment_bytes = bytes;
  return device;
}

/// Two results of one step each, joined along channels at 0 and `second`, and read by a last step.
Schedule joined(std::int64_t images, std::int64_t first, std::int64_t second,
                Value::Kind kind = Value::Kind::activation) {
  ScheduleBuilder network;
  const ValueId a = network.mapped(network.input({images, first, 4, 4}));
  const ValueId b = network.mapped(network.input({images, second, 4, 4}));
  const ValueId whole = network.value({images, first + second, 4, 4}, kind);
  network.copy(a, whole, 1, 0, Way::join);
  network.copy(b, whole, 1, first, Way::join);
  if (kind == Value::Kind::output) {
    network.output(whole);
  } else {
    network.output(network.mapped(whole));
  }
  return network.schedule();
}

/// The values that a schedule's kernels write, in order.
std::vector<ValueId> results_of(const Schedule& schedule) {
  std::vector<ValueId> results;
  for (const auto& kernel : schedule.kernels) results.push_back(kernel.values.at("dst"));
  return results;
}

TEST(JoinParts, PartsAreComputedInTheWhole) {
  Schedule schedule = joined(1, 8, 3);
  join_parts(schedule, aligned_to(128));
  const auto results = results_of(schedule);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_DOUBLE_EQ(schedule.estimated_us, 3.0);
  const ValueId whole = schedule.kernels[2].values.at("src0");
  const MemoryRange first = range_of(schedule.values, results[0]);
  const MemoryRange second = range_of(schedule.values, results[1]);
  EXPECT_EQ(first.root, whole);
  EXPECT_EQ(second.root, whole);
  EXPECT_EQ(first.begin_bytes, 0);
  EXPECT_EQ(second.begin_bytes, 8 * 16 * 4);
  EXPECT_EQ(second.end_bytes, bytes_of(schedule.values[whole].arrangement));
  EXPECT_FALSE(overlap(first, second));
  for (const ValueId v : schedule.values.ids()) EXPECT_LT(schedule.values[v].memory_of, v);
}

TEST(JoinParts, WhatCannotBeStaysACopy) {
  struct Case {
    std::int64_t images, first, second, alignment;
    Value::Kind kind;
    std::size_t kernels;
  };
  const Case cases[] = {
      {1, 8, 3, 128, Value::Kind::activation, 3},
      {1, 7, 3, 128, Value::Kind::activation, 4},  // the second begins at 448 bytes
      {1, 7, 3, 64, Value::Kind::activation, 3},
      {2, 8, 3, 128, Value::Kind::activation, 5},  // not one stretch
      {1, 8, 3, 128, Value::Kind::output, 4},      // the caller's
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::to_string(c.images) + " x " + std::to_string(c.first));
    Schedule schedule = joined(c.images, c.first, c.second, c.kind);
    join_parts(schedule, aligned_to(c.alignment));
    EXPECT_EQ(schedule.kernels.size(), c.kernels);
  }
  DeviceInfo device = aligned_to(128);
  device.quirks.emplace_back(kOverlappingSubBuffers);
  Schedule schedule = joined(1, 8, 3);
  join_parts(schedule, device);
  EXPECT_EQ(schedule.kernels.size(), 5U);
}

/// Puts the channels of all values between steps in blocks of sixteen.
void lie_in_blocks(Schedule& schedule) {
  for (Value& value : schedule.values) {
    if (value.kind != Value::Kind::activation) continue;
    value.arrangement = make_arrangement(
        DType::f32, value.arrangement.tensor_shape, {{0}, {1}, {2}, {3}},
        Layout(4, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 16}}), {1, 16, 1, 1}, PaddingContents::zero);
  }
}

TEST(JoinParts, WholeBlocksAreStretchesToo) {
  struct Case {
    std::int64_t images, first, second;
    std::size_t kernels;
  };
  const Case cases[] = {
      {1, 32, 48, 3}, {1, 16, 16, 3}, {1, 32, 24, 5}, {1, 24, 40, 5}, {2, 32, 48, 5},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::to_string(c.images) + " x " + std::to_string(c.first));
    Schedule schedule = joined(c.images, c.first, c.second);
    lie_in_blocks(schedule);
    join_parts(schedule, aligned_to(128));
    EXPECT_EQ(schedule.kernels.size(), c.kernels);
    if (c.kernels > 3) continue;
    const MemoryRange second = range_of(schedule.values, results_of(schedule)[1]);
    EXPECT_EQ(second.begin_bytes, c.first * 16 * 4);
    EXPECT_EQ(second.end_bytes, (c.first + c.second) * 16 * 4);
  }
  Schedule schedule = joined(1, 32, 48);
  const Arrangement dense = schedule.values[results_of(schedule)[2]].arrangement;
  const ValueId whole = results_of(schedule)[2];
  lie_in_blocks(schedule);
  schedule.values[whole].arrangement = dense;
  join_parts(schedule, aligned_to(128));
  EXPECT_EQ(schedule.kernels.size(), 5U) << "in another order";
}

TEST(JoinParts, AWholeMayBeAPartItself) {
  ScheduleBuilder network;
  const ValueId a = network.mapped(network.input({1, 8, 4}));
  ValueId whole = a;
  for (int i = 0; i < 5; ++i) {
    const ValueId b = network.mapped(whole);
    const int channels = static_cast<int>(network.shape_of(whole)[1]);
    const ValueId next = network.value({1, 2 * channels, 4});
    network.copy(whole, next, 1, 0, Way::join);
    network.copy(b, next, 1, channels, Way::join);
    whole = next;
  }
  network.output(network.mapped(whole));
  Schedule& schedule = network.schedule();
  join_parts(schedule, aligned_to(128));
  EXPECT_EQ(schedule.kernels.size(), 7U);
  const ValueId root = range_of(schedule.values, schedule.kernels.back().values.at("src0")).root;
  for (std::size_t k = 0; k + 1 < schedule.kernels.size(); ++k) {
    EXPECT_EQ(range_of(schedule.values, schedule.kernels[k].values.at("dst")).root, root);
  }
}

TEST(JoinParts, WhatIsJoinedTwiceIsCopiedOnce) {
  ScheduleBuilder network;
  const ValueId a = network.mapped(network.input({1, 8, 4}));
  const ValueId whole = network.value({1, 16, 4});
  network.copy(a, whole, 1, 0, Way::join);
  network.copy(a, whole, 1, 8, Way::join);
  network.output(network.mapped(whole));
  join_parts(network.schedule(), aligned_to(128));
  EXPECT_EQ(network.schedule().kernels.size(), 3U);
}

TEST(JoinParts, PartsAreReadInTheWhole) {
  ScheduleBuilder network;
  const ValueId whole = network.mapped(network.input({1, 16, 4}));
  const ValueId a = network.value({1, 8, 4});
  const ValueId b = network.value({1, 8, 4});
  network.copy(a, whole, 1, 0, Way::take_apart);
  network.copy(b, whole, 1, 8, Way::take_apart);
  const ValueId sum = network.value({1, 8, 4});
  network.map(a, sum, b);
  network.output(sum);
  Schedule& schedule = network.schedule();
  join_parts(schedule, aligned_to(128));
  ASSERT_EQ(schedule.kernels.size(), 2U);
  EXPECT_EQ(range_of(schedule.values, schedule.kernels[1].values.at("src0")).begin_bytes, 0);
  EXPECT_EQ(range_of(schedule.values, schedule.kernels[1].sides[0]).begin_bytes, 8 * 4 * 4);
}

TEST(WriteOverDying, OnlyWhatNothingReadsAfterwards) {
  ScheduleBuilder network;
  const ValueId x = network.input({3, 17});
  const ValueId a = network.mapped(x);  // the input stays the caller's
  const ValueId b = network.mapped(a);  // a is read again
  const ValueId c = network.mapped(b);  // over b
  const ValueId d = network.value({3, 17});
  network.map(c, d, a);  // over c
  const ValueId y = network.value({3, 17}, Value::Kind::output);
  network.map(d, y);  // outputs have memory of their own
  network.output(y);
  Schedule& schedule = network.schedule();
  reuse_dying_operands(schedule);
  const auto root = [&](ValueId value) { return memory_root(schedule.values, value); };
  EXPECT_EQ(root(a), a);
  EXPECT_EQ(root(b), b);
  EXPECT_EQ(root(c), b);
  EXPECT_EQ(root(d), b);
  EXPECT_EQ(root(y), y);
}

TEST(WriteOverDying, NotWhatIsBroadcast) {
  ScheduleBuilder network;
  const ValueId x = network.input({3, 17});
  const ValueId row = network.mapped(network.input({1, 17}));
  const ValueId sum = network.value({3, 17});
  network.map(x, sum, row);
  network.output(network.mapped(sum));
  reuse_dying_operands(network.schedule());
  EXPECT_EQ(memory_root(network.schedule().values, sum), sum);
}

}  // namespace
}  // namespace morton::test
