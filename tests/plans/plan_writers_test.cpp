// SPDX-License-Identifier: Apache-2.0
//
// Who makes the content of a value whose memory has several names, and that nobody spoils it.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "plan/ir/print.hpp"
#include "plan/ir/verify.hpp"
#include "plan/ir/writers.hpp"
#include "plans/plan_setup.hpp"
#include "run/layer_values.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Steps: 0 and 1 write the two parts of a joined tensor, 2 writes over it, 3 reads that.
class PlanWriters : public ::testing::Test {
 protected:
  static Graph joined() {
    NetworkBuilder network("joined", 3);
    const TensorId x = network.input("x", {-1, 8, 16, 16});
    const TensorId whole =
        network.node("Concat", {network.relu(x), network.node("Sigmoid", {x})}, {{"axis", 1}});
    network.output(network.node("MaxPool", {network.node("Tanh", {whole})},
                                {{"kernel_shape", std::vector<std::int64_t>{2, 2}}}));
    return network.finish();
  }
  void SetUp() override {
    ASSERT_EQ(plan_.steps.size(), 4U);
    ASSERT_TRUE(plan_.steps[2].in_place);
    whole_ = plan_.steps[2].reads[0];
    ASSERT_NE(plan_.steps[0].writes[0], whole_);
  }
  [[nodiscard]] std::vector<std::size_t> steps_of(ValueId value) const {
    std::vector<std::size_t> steps;
    for (const Write& write : Writers(plan_).of(value)) steps.push_back(write.step);
    return steps;
  }
  [[nodiscard]] std::string complaint() const {
    try {
      verify(plan_, device_);
    } catch (const InternalError& error) {
      return error.what();
    }
    return "nothing";
  }

  const DeviceInfo device_ = saved_device("pocl_cpu");
  Plan plan_ = plan_of(joined(), 1, device_);
  ValueId whole_;
};

TEST_F(PlanWriters, PartsMakeTheWholeUntilItIsOverwritten) {
  EXPECT_THAT(steps_of(whole_), ElementsAre(0, 1));
  EXPECT_THAT(steps_of(plan_.steps[0].writes[0]), ElementsAre(0));
  EXPECT_THAT(steps_of(plan_.steps[2].writes[0]), ElementsAre(2));
  EXPECT_THAT(steps_of(plan_.inputs[0].value), ElementsAre());
}

TEST_F(PlanWriters, APartOfWhatIsWrittenWhole) {
  Value part = plan_.values[plan_.steps[1].writes[0]];
  part.memory_of = plan_.steps[2].writes[0];
  const ValueId added = plan_.values.add(part);
  EXPECT_THAT(steps_of(added), ElementsAre(2));
  plan_.values[added].memory_of = whole_;
  EXPECT_THAT(steps_of(added), ElementsAre(1));
}

TEST_F(PlanWriters, ALayerIsCompleteBeforeItIsOverwritten) {
  const auto layers = planned_layers(plan_, [](const std::string&) { return true; });
  EXPECT_EQ(layers.size(), 5U);
  const auto whole = std::ranges::find(layers, whole_, &PlannedLayer::value);
  ASSERT_NE(whole, layers.end());
  EXPECT_EQ(whole->last, 1U);
}

TEST_F(PlanWriters, WhatIsOverwrittenCannotBeReadLater) {
  EXPECT_EQ(complaint(), "nothing");
  for (const ValueId spoilt : {whole_, plan_.steps[0].writes[0], plan_.steps[1].writes[0]}) {
    plan_.steps[3].reads.push_back(spoilt);
    EXPECT_THAT(complaint(), HasSubstr("which is read later")) << spoilt.index();
    plan_.steps[3].reads.pop_back();
  }
}

TEST_F(PlanWriters, ACopyWithinTheWholeReplacesNothing) {
  NetworkBuilder network("twice", 3);
  const TensorId a = network.relu(network.input("x", {-1, 8, 16, 16}));
  const TensorId c = network.node("Concat", {a, a}, {{"axis", 1}});
  const TensorId d = network.node("Concat", {c, a}, {{"axis", 1}});
  network.output(network.node("MaxPool", {network.node("Tanh", {d})},
                              {{"kernel_shape", std::vector<std::int64_t>{2, 2}}}));
  plan_ = plan_of(network.finish(), 1, device_);
  ASSERT_EQ(plan_.steps.size(), 5U) << print(plan_, PlanDetail::brief);
  EXPECT_EQ(complaint(), "nothing");
  EXPECT_THAT(steps_of(plan_.steps[3].reads[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(steps_of(plan_.steps[1].writes[0]), ElementsAre(0, 1));
}

}  // namespace
}  // namespace morton::test
