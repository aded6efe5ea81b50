// SPDX-License-Identifier: Apache-2.0
//
// Networks by named paths: CLBlast composed as R18 did, and R18's own steps.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "passes/sparse_filters.hpp"
#include "plan/ir/print.hpp"
#include "plan/policy/plan_options.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

PlanOptions by_clblast(const std::string& product) {
  PlanOptions options;
  options.use = {{"conv2d", "conv2d.clblast"}, {"gemm", product}};
  options.libraries = {"clblast"};
  return options;
}

Plan plan_by_clblast(std::int64_t batch, const std::string& product) {
  Graph graph = network_named("lenet5");
  spread_subsampling(graph);
  return plan_of(graph, batch, saved_device("pocl_cpu"), by_clblast(product));
}

bool starts(const Step& step) {
  return std::any_of(step.arguments.begin(), step.arguments.end(),
                     [](const StepArgument& argument) { return argument.name == "start"; });
}

TEST(ConvPath, ClblastTakesLeNetByItsRoutines) {
  const Plan plan = plan_by_clblast(3, "gemm.clblast");
  EXPECT_EQ(count_of(plan, "unfold2d.clblast"), 4);
  EXPECT_EQ(count_of(plan, "filter_gemm.clblast"), 4);
  EXPECT_EQ(count_of(plan, "gemm.clblast"), 3);
  // A convolution's product starts from its biases, which are spread when the plan is loaded. After
  // others the elementwise step that is there anyway adds them.
  for (const Step& step : plan.steps) {
    if (step.kernel != "filter_gemm.clblast") continue;
    EXPECT_TRUE(starts(step)) << step.name;
  }
  EXPECT_EQ(plan.load_steps.size(), 5U);
  // Nothing is repacked: six activations, the output and its probabilities need 8 steps of ours.
  EXPECT_EQ(plan.steps.size(), 4U + 4U + 3U + 6U + 1U) << print(plan, PlanDetail::brief);
}

TEST(ConvPath, ClblastTakesOneInputByMatrixTimesVector) {
  const Plan plan = plan_by_clblast(1, "gemm.clblast_gemv");
  EXPECT_EQ(count_of(plan, "gemm.clblast_gemv"), 3);
  EXPECT_EQ(count_of(plan, "filter_gemm.clblast"), 4);
}

TEST(ConvPath, ALibrarysRecipeIsConsideredWhereItIsNamedOnly) {
  PlanOptions options;
  options.libraries = {"clblast"};
  // One step for a convolution and its pool lists no ways of the convolution.
  options.exclude = {"conv2d_pool.planes", "conv2d_pool.naive"};
  const Plan plan = plan_of(network_named("lenet5"), 1, saved_device("pocl_cpu"), options);
  for (const Step& step : plan.steps) EXPECT_EQ(step.kernel.find("clblast"), std::string::npos);
  const std::string why = print(plan, PlanDetail::why);
  EXPECT_NE(why.find("not conv2d.clblast: it is considered only where use "
                     "conv2d=conv2d.clblast asks for it"),
            std::string::npos)
      << why;
}

TEST(ConvPath, WithoutTheLibraryItSaysWhatToInstall) {
  PlanOptions options = by_clblast("gemm.clblast");
  options.libraries.clear();
  try {
    static_cast<void>(plan_of(network_named("lenet5"), 1, saved_device("pocl_cpu"), options));
    FAIL() << "expected a UsageError";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("libclblast-dev"), std::string::npos) << error.what();
  }
}

TEST(ConvPath, R18sStepsTakeLeNetOnEveryDevice) {
  for (const std::string& device : saved_devices()) {
    for (const std::string name : {"naive", "nhwc", "vectorised", "morton"}) {
      SCOPED_TRACE(device + " " + name);
      PlanOptions options;
      options.use = {{"conv2d", "conv2d.r18_" + name}};
      const Plan plan = plan_of(network_named("lenet5"), 3, saved_device(device), options);
      const std::string kernel = name == "morton" ? "gemm.morton_4_2_rm" : "conv2d.r18_" + name;
      EXPECT_EQ(count_of(plan, kernel), 2) << print(plan, PlanDetail::brief);
    }
  }
}

}  // namespace
}  // namespace morton::test
