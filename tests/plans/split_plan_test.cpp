// SPDX-License-Identifier: Apache-2.0
//
// One plan over several devices: how a batch is shared, what cannot be cut, what is checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "morton/compile.hpp"
#include "plan/ir/print.hpp"
#include "plan/ir/print_json.hpp"
#include "plan/ir/verify.hpp"
#include "plan/split/share_rows.hpp"
#include "plans/split_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::int64_t> rows_for(std::int64_t batch, const std::vector<double>& weights) {
  return share_rows(batch, weights);
}

TEST(ShareRows, GivesWholeRowsInProportion) {
  EXPECT_THAT(rows_for(6, {2, 1}), ElementsAre(4, 2));
  EXPECT_THAT(rows_for(5, {2, 1}), ElementsAre(3, 2));
  EXPECT_THAT(rows_for(100, {9, 1}), ElementsAre(90, 10));
  EXPECT_THAT(rows_for(3, {1, 1}), ElementsAre(2, 1)) << "the first of equals";
  EXPECT_THAT(rows_for(63, {1, 1, 1, 4}), ElementsAre(9, 9, 9, 36));
  EXPECT_THAT(rows_for(17, {0.3}), ElementsAre(17));
}

TEST(ShareRows, GivesEveryDeviceARow) {
  EXPECT_THAT(rows_for(3, {1e9, 1, 1}), ElementsAre(1, 1, 1));
  EXPECT_THAT(rows_for(4, {1, 1, 1000}), ElementsAre(1, 1, 2));
  EXPECT_THAT(rows_for(1000, {1e-300, 1e300}), ElementsAre(1, 999));
}

TEST(ShareRows, IsWithinOneRowOfTheProportion) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> weight(0.5, 4.0);
    std::vector<double> weights(1 + generator() % 5);
    for (double& each : weights) each = weight(generator);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto batch = static_cast<std::int64_t>(50 + generator() % 100);
    const auto rows = share_rows(batch, weights);
    EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}), batch);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double ideal = static_cast<double>(batch) * weights[i] / sum;
      EXPECT_LT(std::abs(static_cast<double>(rows[i]) - ideal), 1.0);
    }
  }
}

TEST(ShareRows, RefusesWhatCannotBe) {
  const auto complaint = [](std::int64_t batch, const std::vector<double>& weights) {
    try {
      static_cast<void>(share_rows(batch, weights));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(complaint(1, {1, 1}), HasSubstr("a batch of 1 cannot be split over 2 devices"));
  EXPECT_THAT(complaint(5, {1, 0}), HasSubstr("not a number above 0"));
  EXPECT_THAT(complaint(5, {1, -2}), HasSubstr("not a number above 0"));
  EXPECT_THAT(complaint(5, {std::nan(""), 1}), HasSubstr("not a number above 0"));
  EXPECT_THAT(complaint(5, {std::numeric_limits<double>::infinity(), 1}), HasSubstr("above 0"));
}

TEST(SplitPlan, GivesEachDeviceItsStepsAndMovesTheRest) {
  for (const auto& name : {"mlp", "small_cnn", "residual", "lenet5"}) {
    SCOPED_TRACE(name);
    const Graph graph = network_named(name);
    const Plan plan = split_over(graph, {3, 2}, mali_pair());
    const Plan first = plan_of(graph, 3, mali_pair()[0]);
    const Plan second = plan_of(graph, 2, mali_pair()[1]);
    ASSERT_EQ(plan.devices.size(), 2U);
    ASSERT_EQ(plan.inputs.size(), 1U);
    const auto& shape_of = [&](ValueId value) {
      return plan.values[value].arrangement.tensor_shape;
    };
    EXPECT_EQ(shape_of(plan.inputs[0].value).front(), 5);
    EXPECT_EQ(shape_of(plan.outputs[0].value).front(), 5);
    Indexed<DeviceIndex, std::size_t> steps(2);
    std::vector<const Step*> transfers;
    for (const Step& step : plan.steps) {
      if (step.transfer() != nullptr) {
        transfers.push_back(&step);
      } else {
        ++steps[step.device];
      }
    }
    EXPECT_THAT(steps, ElementsAre(first.steps.size(), second.steps.size()));
    // The first device works in place: rows of the other one's go there and back.
    ASSERT_EQ(transfers.size(), 2U);
    EXPECT_EQ(to_json(plan)["steps"].front()["role"], "transfer");
    EXPECT_EQ(transfers[0], &plan.steps.front());
    EXPECT_EQ(transfers[1], &plan.steps.back());
    EXPECT_EQ(transfers[0]->device, DeviceIndex(1));
    EXPECT_EQ(transfers[1]->device, kFirstDevice);
    const std::int64_t input_bytes = plan.values[plan.inputs[0].value].bytes;
    EXPECT_EQ(transfers[0]->transfer()->from_offset_bytes, input_bytes / 5 * 3);
    EXPECT_EQ(transfers[0]->transfer()->bytes, input_bytes / 5 * 2);
  }
}

TEST(SplitPlan, PrintsDevicesAndTransfers) {
  const Plan plan = split_over(make_mlp(1), {3, 2}, mali_pair());
  const std::string text = print(plan, PlanDetail::why);
  EXPECT_THAT(text, HasSubstr("plan for 2 devices\ndevice 0: "));
  EXPECT_THAT(text, HasSubstr("  0 device 1 scatter "));
  EXPECT_THAT(text, HasSubstr("device 0 gather "));
  EXPECT_THAT(text, HasSubstr(" of device 1 at block "));
  const double both = estimated_us(plan);
  EXPECT_GT(both, estimated_us(plan_of(make_mlp(1), 3, mali_pair()[0])));
}

TEST(SplitPlan, AnOutputThatIsAnInputIsCopied) {
  NetworkBuilder network("both", 1);
  const TensorId x = network.input("x", {-1, 7});
  network.output(network.relu(x));
  network.output(x);
  const Plan plan = split_over(network.finish(), {3, 2}, mali_pair());
  const auto local = std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
    return step.transfer() != nullptr && step.device == kFirstDevice &&
           plan.values[step.transfer()->from].device == kFirstDevice;
  });
  EXPECT_EQ(local, 1);
}

/// The plan of the public interface for these devices, as JSON.
std::string planned_over(const Graph& graph, const std::vector<DeviceInfo>& devices,
                         const CompileOptions& options) {
  std::vector<std::string> descriptions;
  for (const DeviceInfo& device : devices) descriptions.push_back(to_json(device).dump());
  return plan_json(Inside::make(graph), descriptions, options);
}

TEST(SplitPlan, CutsTheFirstExtentWhereTheBatchIsAnother) {
  NetworkBuilder network("sequence", 1);
  network.output(network.relu(network.input("x", {-1, -1, 5})));
  Graph graph = network.finish();
  graph.tensor(graph.inputs[0]).declared[0].symbol = "length";
  CompileOptions options;
  options.weights = {2, 1};
  options.shapes["x"] = {6, 3, 5};
  EXPECT_THAT(planned_over(graph, mali_pair(), options), HasSubstr("6x3x5 to 2x3x5"));
  options.shapes.clear();
  options.batch = 3;
  EXPECT_THROW((void)planned_over(graph, mali_pair(), options), UsageError) << "length is open";
}

TEST(SplitPlan, DevicesAreComparedWithoutTheHost) {
  NetworkBuilder network("product", 1);
  const TensorId lhs = network.input("lhs", {-1, 17});
  network.output(network.node("MatMul", {lhs, network.input("rhs", {17, 17})}));
  std::vector<DeviceInfo> devices{saved_device("pocl_cpu"), saved_device("pocl_cpu")};
  for (DeviceInfo& device : devices) device.peaks.launch_us = 1000.0;
  // The host would be quick beside the first device, and both wait for it.
  devices[0].peaks.host = {1010.0, {{1024, 0.5}, {4194304, 100.0}}};
  CompileOptions options;
  options.batch = 8;
  const std::string plan = planned_over(network.finish(), devices, options);
  EXPECT_THAT(plan, HasSubstr("8x17 to 4x17"));
}

TEST(SplitPlan, RefusesASoftmaxAlongTheBatch) {
  NetworkBuilder network("columns", 1);
  const TensorId x = network.input("x", {-1, 7});
  network.output(network.node("Softmax", {x}, {{"axis", std::int64_t{0}}}));
  EXPECT_THAT(refusal(network.finish()), HasSubstr("computes along its rows"));
}

TEST(SplitPlan, RefusesAProductOverTheBatch) {
  NetworkBuilder network("gram", 1);
  const TensorId x = network.input("x", {-1, 7});
  network.output(network.node("Gemm", {x, network.relu(x)}, {{"transB", std::int64_t{1}}}));
  EXPECT_THAT(refusal(network.finish()), HasSubstr("so the batch cannot be cut"));
}

TEST(SplitPlan, RefusesAReshapeThatJoinsTheBatch) {
  NetworkBuilder network("joined", 1);
  const TensorId x = network.input("x", {-1, 6});
  network.output(network.node("Reshape", {network.relu(x), network.list({-1, 3})}));
  EXPECT_THAT(refusal(network.finish()), HasSubstr("joins the batch"));
}

TEST(SplitPlan, RefusesAnOutputThatDoesNotDependOnTheBatch) {
  NetworkBuilder network("constant", 1);
  const TensorId x = network.input("x", {-1, 6});
  const TensorId y = network.input("y", {6, 6});
  network.output(network.relu(x));
  network.output(network.relu(y));
  EXPECT_THAT(refusal(network.finish()), HasSubstr("row by row"));
}

TEST(SplitPlan, AnInputWithoutABatchGoesToAllInFull) {
  NetworkBuilder network("shared", 1);
  const TensorId x = network.input("x", {-1, 6});
  const TensorId y = network.input("y", {6, 5});
  network.output(network.node("MatMul", {x, y}));
  const Plan plan = split_over(network.finish(), {3, 2}, mali_pair());
  const auto whole = std::find_if(plan.steps.begin(), plan.steps.end(),
                                  [](const Step& step) { return step.name == "scatter y"; });
  ASSERT_NE(whole, plan.steps.end());
  EXPECT_EQ(whole->transfer()->from_offset_bytes, 0);
  EXPECT_EQ(whole->transfer()->bytes, 6 * 5 * 4);
}

class SplitVerify : public ::testing::Test {
 protected:
  const Devices devices_{mali_pair()};
  const Plan good_ = split_over(make_mlp(1), {3, 2}, mali_pair());

  static Transfer& transfer_in(Step& step) { return std::get<Transfer>(step.action); }

  template <typename Spoil>
  std::string complaint(const Spoil& spoil) const {
    Plan plan = good_;
    spoil(plan);
    try {
      verify(plan, devices_);
    } catch (const InternalError& error) {
      return error.what();
    }
    return "nothing";
  }
};

TEST_F(SplitVerify, SeesWhatIsWrong) {
  EXPECT_EQ(complaint([](Plan&) {}), "nothing");
  EXPECT_THAT(complaint([](Plan& plan) { plan.devices.resize(1); }), HasSubstr("for 1 devices"));
  EXPECT_THAT(complaint([](Plan& plan) { plan.steps[1].device = DeviceIndex(2); }),
              HasSubstr("device 2 of 2"));
  EXPECT_THAT(complaint([](Plan& plan) { plan.steps[1].device = DeviceIndex(1); }),
              HasSubstr("value of device 0"));
  EXPECT_THAT(complaint([](Plan& plan) { transfer_in(plan.steps[0]).bytes += 4; }),
              HasSubstr("leaves the value"));
  EXPECT_THAT(complaint([](Plan& plan) { transfer_in(plan.steps[0]).from_offset_bytes = -4; }),
              HasSubstr("leaves the value"));
  EXPECT_THAT(complaint([](Plan& plan) { transfer_in(plan.steps[0]).stretches = 2; }),
              HasSubstr("leaves the value"));
  EXPECT_THAT(complaint([](Plan& plan) { transfer_in(plan.steps[0]).stretches = 0; }),
              HasSubstr("leaves the value"));
  EXPECT_THAT(complaint([](Plan& plan) { transfer_in(plan.steps[0]).to = ValueId(); }),
              HasSubstr("names value -1"));
  EXPECT_THAT(complaint([](Plan& plan) { plan.steps.erase(plan.steps.begin()); }),
              HasSubstr("before it is written"));
  EXPECT_THAT(complaint([](Plan& plan) {
                for (Value& value : plan.values) value.block = BlockId(0);
              }),
              HasSubstr("lies in a block of device"));
}

}  // namespace
}  // namespace morton::test
