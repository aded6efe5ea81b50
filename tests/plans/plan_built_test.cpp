// SPDX-License-Identifier: Apache-2.0
//
// Plans at other extents that may only use kernels which are built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/error.hpp"
#include "plan/lower/emit.hpp"
#include "plan/policy/plan_options.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

void add(const Plan& plan, BuiltKernels& built) {
  built.add(plan.decisions);
  for (const auto& instance : plan.instances) built.instances.insert(instance.key);
}

/// What is built after planning for `batch` and, with the same decisions, for 5, which leaves tails
/// everywhere, and 8, which leaves few.
std::shared_ptr<BuiltKernels> built_for(const Graph& graph, std::int64_t batch,
                                        const DeviceInfo& device) {
  auto built = std::make_shared<BuiltKernels>();
  add(plan_of(graph, batch, device), *built);
  for (const std::int64_t other : {5, 8}) {
    PlanOptions carried;
    carried.built = std::make_shared<const BuiltKernels>(*built);
    add(plan_of(graph, other, device, carried), *built);
  }
  return built;
}

TEST(PlanBuilt, OtherBatchesUseTheKernelsThatAreThere) {
  for (const char* network : {"lenet5", "mlp", "small_cnn", "residual"}) {
    for (const auto& name : saved_devices()) {
      // There a batch of 3 or 17 needs a kernel that none of the sizes built for chooses; its plan
      // says so.
      if ((name == "pocl_neon" || name == "mali_t628") && std::string(network) == "residual") {
        continue;
      }
      // So it is with patches of eight rows and columns, of which 3 and 17 leave other tails than 5
      // and 8: a copy that none of these sizes has.
      if (name == "adreno_530") continue;
      const DeviceInfo device = saved_device(name);
      const Graph graph = network_named(network);
      PlanOptions options;
      options.missing = PlanOptions::Missing::refuse;
      options.built = built_for(graph, 1, device);
      for (const std::int64_t batch : {1, 3, 8, 17}) {
        SCOPED_TRACE(std::string(network) + " on " + name + ", batch " + std::to_string(batch));
        Plan plan;
        ASSERT_NO_THROW(plan = plan_of(graph, batch, device, options));
        for (const auto& instance : plan.instances) {
          EXPECT_TRUE(options.built->instances.contains(instance.key)) << instance.function;
        }
      }
    }
  }
}

TEST(PlanBuilt, TheSameExtentsGiveTheSameSteps) {
  const DeviceInfo device = saved_device("pocl_cpu");
  const Graph graph = network_named("residual");
  PlanOptions options;
  options.missing = PlanOptions::Missing::refuse;
  options.built = built_for(graph, 5, device);
  const Plan first = plan_of(graph, 5, device);
  const Plan again = plan_of(graph, 5, device, options);
  ASSERT_EQ(first.steps.size(), again.steps.size());
  for (std::size_t s = 0; s < first.steps.size(); ++s) {
    EXPECT_EQ(first.steps[s].kernel, again.steps[s].kernel);
    EXPECT_EQ(first.steps[s].tunables, again.steps[s].tunables);
    EXPECT_EQ(launch_of(first.steps[s]).global, launch_of(again.steps[s]).global);
  }
}

std::string refusal(const Graph& graph, const DeviceInfo& device, const PlanOptions& options) {
  try {
    static_cast<void>(plan_of(graph, 2, device, options));
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(PlanBuilt, WhatIsNotBuiltIsNamed) {
  const DeviceInfo device = saved_device("pocl_cpu");
  const Graph graph = network_named("mlp");
  auto built = std::make_shared<BuiltKernels>(*built_for(graph, 1, device));
  PlanOptions options;
  options.missing = PlanOptions::Missing::refuse;
  options.built = built;
  built->instances.clear();
  EXPECT_THAT(refusal(graph, device, options), HasSubstr("kernels would have to be built"));
  built->decisions.clear();
  EXPECT_THAT(refusal(graph, device, options), HasSubstr("none of the kernels that are built"));
  options.missing = PlanOptions::Missing::build;
  EXPECT_EQ(refusal(graph, device, options), "nothing");
}

TEST(PlanBuilt, ProgramsTakeTheKernelsOfAnotherPlan) {
  const DeviceInfo device = saved_device("pocl_cpu");
  const Graph graph = network_named("lenet5");
  Plan plan = plan_of(graph, 1, device);
  const std::size_t before = plan.instances.size();
  EXPECT_EQ(add_instances(plan, plan_of(graph, 1, device)), 0);
  PlanOptions options;
  options.use = {{"gemm", "gemm.naive"}};
  const int added = add_instances(plan, plan_of(graph, 1, device, options));
  EXPECT_GT(added, 0);
  EXPECT_EQ(plan.instances.size(), before + static_cast<std::size_t>(added));
  std::size_t in_programs = 0;
  for (const auto& program : plan.programs) in_programs += program.size();
  EXPECT_EQ(in_programs, plan.instances.size());
}

}  // namespace
}  // namespace morton::test
