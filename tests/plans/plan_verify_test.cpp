// SPDX-License-Identifier: Apache-2.0
//
// `verify` must notice whatever would make a run compute nonsense: good plans are broken in one
// place each.
#include <gtest/gtest.h>

#include <functional>

#include "base/error.hpp"
#include "plan/ir/verify.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class PlanVerify : public ::testing::Test {
 protected:
  const DeviceInfo device_ = saved_device("mali_t628");
  const Plan good_ = plan_of(make_residual_network(3), 3, device_);

  /// What `verify` says of the plan that `spoil` broke.
  std::string complaint(const std::function<void(Plan&)>& spoil) const {
    Plan plan = good_;
    spoil(plan);
    try {
      verify(plan, device_);
    } catch (const InternalError& error) {
      return error.what();
    }
    return "nothing";
  }

  /// The first step whose result is read again behind the next two.
  static std::size_t step_whose_result_waits(const Plan& plan) {
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
      const ValueId written = plan.steps[s].writes[0];
      for (std::size_t later = s + 3; later < plan.steps.size(); ++later) {
        const auto& reads = plan.steps[later].reads;
        if (std::find(reads.begin(), reads.end(), written) != reads.end()) return s;
      }
    }
    throw std::runtime_error("no result waits");
  }

  /// The value that step `step` writes.
  static Value& result(Plan& plan, std::size_t step) {
    return plan.values[plan.steps[step].writes[0]];
  }
};

testing::AssertionResult complains_of(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not say '" << part << "'";
}

TEST_F(PlanVerify, AGoodPlanPasses) {
  EXPECT_EQ(complaint([](Plan&) {}), "nothing");
  EXPECT_GT(good_.steps.size(), 6U);
}

TEST_F(PlanVerify, AValueOutsideItsBlock) {
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) { result(plan, 0).offset_bytes += 1 << 20; }),
                           "lies at"));
  EXPECT_TRUE(
      complains_of(complaint([](Plan& plan) { result(plan, 0).offset_bytes = -128; }), "lies at"));
  EXPECT_TRUE(
      complains_of(complaint([](Plan& plan) { plan.blocks.front().bytes = 1; }), "lies at"));
}

TEST_F(PlanVerify, AValueThatIsNotAligned) {
  EXPECT_TRUE(complains_of(complaint([&](Plan& plan) {
                             plan.blocks[result(plan, 0).block].bytes += 4;
                             result(plan, 0).offset_bytes += 4;
                           }),
                           "lies at"));
}

TEST_F(PlanVerify, AValueWithoutABlock) {
  EXPECT_TRUE(
      complains_of(complaint([](Plan& plan) { result(plan, 1).block = BlockId(); }), "no block"));
  EXPECT_TRUE(
      complains_of(complaint([](Plan& plan) { result(plan, 1).block = BlockId(99); }), "no block"));
}

TEST_F(PlanVerify, ABlockLargerThanTheDeviceAllocates) {
  EXPECT_TRUE(complains_of(complaint([&](Plan& plan) {
                             plan.blocks.front().bytes = device_.memory.max_allocation_bytes + 1;
                           }),
                           "allocates at most"));
}

TEST_F(PlanVerify, AStepThatWritesOverWhatItReads) {
  const std::string text = complaint([](Plan& plan) {
    const Step& step = plan.steps[1];
    const Value& source = plan.values[step.reads[0]];
    Value& target = plan.values[step.writes[0]];
    target.block = source.block;
    target.offset_bytes = source.offset_bytes;
    target.bytes = source.bytes;
  });
  EXPECT_TRUE(complains_of(text, "over"));
}

TEST_F(PlanVerify, TwoLiveValuesInOnePlace) {
  // The first block's input is added again after two convolutions: it must survive them.
  const std::string text = complaint([](Plan& plan) {
    const std::size_t kept = step_whose_result_waits(plan);
    const Value& first = result(plan, kept);
    Value& second = result(plan, kept + 1);
    second.block = first.block;
    second.offset_bytes = first.offset_bytes;
    second.bytes = first.bytes;
  });
  EXPECT_TRUE(complains_of(text, "over"));
}

TEST_F(PlanVerify, AWriteBetweenTwoNamesOfAnOldResult) {
  // Steps 0, 1, 2; a second name of 0's result is read by 2, and 1 writes to the same place.
  Plan plan = plan_of(make_mlp(1), 17, device_);
  ASSERT_GE(plan.steps.size(), 3U);
  const ValueId old = plan.steps[0].writes[0];
  Value name = plan.values[old];
  name.memory_of = old;
  plan.steps[2].reads.push_back(plan.values.add(name));
  Value& between = plan.values[plan.steps[1].writes[0]];
  between.block = name.block;
  between.offset_bytes = name.offset_bytes;
  between.bytes = name.bytes;
  plan.steps[1].reads.clear();
  EXPECT_THROW(verify(plan, device_), InternalError);
}

TEST_F(PlanVerify, ASecondNameThatLiesElsewhere) {
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) {
                             Value name = result(plan, 0);
                             name.memory_of = plan.steps[0].writes[0];
                             name.offset_bytes += 128;
                             plan.values.add(name);
                           }),
                           "does not lie where"));
}

TEST_F(PlanVerify, StepsOutOfOrder) {
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) { std::swap(plan.steps[0], plan.steps[1]); }),
                           "before it is written"));
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) { plan.steps.erase(plan.steps.begin()); }),
                           "before it is written"));
}

TEST_F(PlanVerify, AnOutputThatNobodyWrites) {
  EXPECT_TRUE(
      complains_of(complaint([](Plan& plan) { plan.steps.pop_back(); }), "writes the output"));
}

TEST_F(PlanVerify, NamesOfNothing) {
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) { plan.steps[0].reads[0] = ValueId(999); }),
                           "names value 999"));
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) { plan.outputs[0].value = ValueId(); }),
                           "names value -1"));
  EXPECT_TRUE(complains_of(
      complaint([](Plan& plan) { launch_in(plan.steps[0]).instance = InstanceId(99); }),
      "no kernel"));
}

TEST_F(PlanVerify, AKeptImageOfWhatChanges) {
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) {
                             PassedValue passed{plan.steps[0].writes[0]};
                             passed.image.source = PlannedImage::Source::kept;
                             plan.steps[0].arguments.push_back({"image", passed});
                           }),
                           "keeps an image of"));
}

TEST_F(PlanVerify, WorkGroupsThatTheDeviceDoesNotTake) {
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) {
                             launch_in(plan.steps[0]).local = {257, 1, 1};
                             launch_in(plan.steps[0]).global = {257, 1, 1};
                           }),
                           "local size 257"));
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) {
                             launch_in(plan.steps[0]).local = {32, 32, 1};
                             launch_in(plan.steps[0]).global = {32, 32, 1};
                           }),
                           "work-groups of 1024"));
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) { launch_in(plan.steps[0]).global[0] += 1; }),
                           "global size"));
  EXPECT_TRUE(complains_of(complaint([](Plan& plan) { launch_in(plan.steps[0]).global[1] = 0; }),
                           "global size 0"));
}

}  // namespace
}  // namespace morton::test
