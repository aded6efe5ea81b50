// SPDX-License-Identifier: Apache-2.0
//
// Small kernels of a training step in one launch: fewer launches, the same work, and nothing in one
// launch that needs another's result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/inside.hpp"
#include "autodiff/training_step.hpp"
#include "graph/architectures.hpp"
#include "morton/tools/kernel.hpp"
#include "plan/lower/in_place.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using Launches = PlanOptions::Launches;

Plan step_plan(const std::string& network, const DeviceInfo& device, Launches launches) {
  TrainingStepOptions options;
  options.batch = 20;
  options.optimizer.kind = OptimizerOptions::Kind::adam;
  const Graph model = build(find_architecture(network), 1);
  PlanOptions plan;
  plan.launches = launches;
  return make_plan(prepared(make_training_step(model, options).step, 0), Catalogue::standard(),
                   device, plan);
}

bool is_joined(const Plan& plan, const Step& step) {
  return step.launch() != nullptr &&
         plan.instances[step.launch()->instance].function.starts_with("joined_");
}

/// Values that each member of a joined step reads and writes.
struct Accesses {
  std::vector<ValueId> reads, writes;
};
std::map<int, Accesses> members_of(const Plan& plan, const Step& step) {
  std::map<int, Accesses> members;
  const auto& arguments = plan.instances[step.launch()->instance].arguments;
  EXPECT_EQ(arguments.size(), step.arguments.size());
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const PassedValue* passed = step.arguments[i].value();
    if (passed == nullptr) continue;
    Accesses& member = members[arguments[i].member];
    (arguments[i].name == "dst" ? member.writes : member.reads).push_back(passed->id);
  }
  return members;
}

/// Whether the bytes of two values are the same ones, as they are placed.
bool share_bytes(const Plan& plan, ValueId a, ValueId b) {
  const Value& first = plan.values[a];
  const Value& second = plan.values[b];
  return first.block == second.block && first.offset_bytes < second.offset_bytes + second.bytes &&
         second.offset_bytes < first.offset_bytes + first.bytes;
}

std::int64_t flop_of(const Plan& plan) {
  std::int64_t flop = 0;
  for (const Step& step : plan.steps) flop += step.cost.flop;
  return flop;
}

class JoinLaunches : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Devices, JoinLaunches, testing::ValuesIn(saved_devices()),
                         [](const auto& device) { return device.param; });

TEST_P(JoinLaunches, MembersDoNotNeedEachOther) {
  const DeviceInfo device = saved_device(GetParam());
  for (const char* network : {"c18-mlp", "fashion-cnn"}) {
    SCOPED_TRACE(network);
    const Plan plan = step_plan(network, device, Launches::automatic);
    int joined = 0;
    for (const Step& step : plan.steps) {
      if (!is_joined(plan, step)) continue;
      ++joined;
      const auto members = members_of(plan, step);
      EXPECT_GE(members.size(), 2U);
      for (const auto& [number, member] : members) {
        for (const auto& [other_number, other] : members) {
          if (other_number == number) continue;
          for (const ValueId written : member.writes) {
            for (const auto* accessed : {&other.reads, &other.writes}) {
              for (const ValueId value : *accessed) {
                EXPECT_FALSE(share_bytes(plan, written, value)) << step.name;
              }
            }
          }
        }
      }
    }
    EXPECT_GT(joined, 0);
  }
}

TEST_P(JoinLaunches, DoTheWorkOfAllKernelsWithinTheLimits) {
  const DeviceInfo device = saved_device(GetParam());
  const Plan apart = step_plan("c18-mlp", device, Launches::apart);
  const Plan joined = step_plan("c18-mlp", device, Launches::joined);
  EXPECT_EQ(flop_of(joined), flop_of(apart));
  EXPECT_LT(estimated_us(joined), estimated_us(apart));
  std::size_t kernels = 0;
  for (const Step& step : joined.steps) {
    const KernelLaunch launch = launch_of(step);
    EXPECT_EQ(launch.global[0] % launch.local[0], 0);
    if (!is_joined(joined, step)) {
      kernels += static_cast<std::size_t>(launch.global[2]);  // of a stack its copies
      continue;
    }
    std::size_t bytes = 0;
    std::int64_t end = 0;
    for (const StepArgument& argument : step.arguments) {
      bytes += argument.value() != nullptr ? 8 : 4;
      if (argument.name == "end") end = *argument.integer();
    }
    EXPECT_LE(bytes, 1024U);
    EXPECT_EQ(launch.global[0], end * launch.local[0]);
    kernels += members_of(joined, step).size();
  }
  EXPECT_EQ(kernels, apart.steps.size());
}

/// Of Adam three kernels for each of six parameters: moments, then parameters; the bias of the last
/// gradient comes later.
TEST(JoinLaunchesOnTheCpu, AllParametersFollowInAFewLaunches) {
  const DeviceInfo device = saved_device("pocl_cpu");
  const auto updates = [&](Launches launches) {
    const Plan plan = step_plan("c18-mlp", device, launches);
    return std::ranges::count_if(plan.steps, [](const Step& step) {
      return (step.name + step.problem).find("/update/") != std::string::npos;
    });
  };
  EXPECT_EQ(updates(Launches::apart), 18);
  EXPECT_LE(updates(Launches::automatic), 4);
}

TEST(JoinLaunchesOnTheCpu, TakeLittleMemory) {
  const DeviceInfo device = saved_device("pocl_cpu");
  for (const char* network : {"c18-cnn", "fashion-cnn"}) {
    SCOPED_TRACE(network);
    const Plan apart = step_plan(network, device, Launches::apart);
    const Plan joined = step_plan(network, device, Launches::joined);
    EXPECT_LE(joined.largest_live.all, apart.largest_live.all * 21 / 20);
  }
}

TEST(JoinLaunchesOnTheCpu, InferenceKeepsItsStepsApart) {
  const DeviceInfo device = saved_device("pocl_cpu");
  const Plan plan = plan_of(network_named("residual"), 2, device);
  for (const Step& step : plan.steps) EXPECT_FALSE(is_joined(plan, step)) << step.name;
}

/// Queries, keys and values of an encoder's layer: three products of one size. On a large GPU each
/// leaves compute units idle.
TEST(StackedLaunches, AreProductsOfOneInput) {
  NetworkBuilder network("encoder", 1);
  const TensorId x = network.input("x", {128, 768});
  for (int i = 0; i < 3; ++i) network.output(network.dense(x, 768, 768));
  const Graph graph = network.finish();
  const DeviceInfo device = saved_device("nvidia_h200");
  PlanOptions options;
  const Plan stacked = plan_of(graph, 0, device, options);
  options.launches = Launches::apart;
  const Plan apart = plan_of(graph, 0, device, options);
  EXPECT_EQ(stacked.steps.size() + 2, apart.steps.size());
  EXPECT_EQ(flop_of(stacked), flop_of(apart));
  EXPECT_LT(estimated_us(stacked), estimated_us(apart));
  const auto step = std::ranges::find_if(
      stacked.steps, [](const Step& one) { return launch_of(one).global[2] == 3; });
  ASSERT_NE(step, stacked.steps.end());
  EXPECT_EQ(step->writes.size(), 3U);
  const auto& arguments = stacked.instances[step->launch()->instance].arguments;
  ASSERT_EQ(arguments.size(), step->arguments.size());
  std::map<std::string, std::set<int>> copies;
  for (const auto& argument : arguments) copies[argument.name].insert(argument.member);
  EXPECT_THAT(copies["dst"], ::testing::ElementsAre(0, 1, 2));
  // What is shown of them tells their family, whose name their problem does not begin with.
  const auto texts = kernel_texts(Inside::make(graph), to_json(device).dump());
  const auto shown =
      std::ranges::find_if(texts, [](const KernelText& one) { return one.global[2] == 3; });
  ASSERT_NE(shown, texts.end());
  EXPECT_EQ(shown->family, "gemm");
  EXPECT_FALSE(shown->problem.starts_with("gemm "));
  // Whose work-groups fill the device stays alone: nothing is gained.
  NetworkBuilder large("large", 1);
  const TensorId rows = large.input("x", {16384, 768});
  for (int i = 0; i < 3; ++i) large.output(large.dense(rows, 768, 768));
  const Plan full = plan_of(large.finish(), 0, device);
  for (const Step& one : full.steps) EXPECT_EQ(launch_of(one).global[2], 1) << one.name;
}

/// A part has the arguments of its own kernel, so a kernel that cannot be a part is left alone.
TEST(JoinLaunchesOnTheCpu, KernelsWithLocalMemoryStayApart) {
  const DeviceInfo device = saved_device("pocl_cpu");
  const Plan plan = step_plan("c18-mlp", device, Launches::joined);
  for (const Step& step : plan.steps) {
    if (!is_joined(plan, step)) continue;
    const auto& instance = plan.instances[step.launch()->instance];
    EXPECT_EQ(instance.text.find("__local "), std::string::npos) << step.problem;
  }
}

}  // namespace
}  // namespace morton::test
