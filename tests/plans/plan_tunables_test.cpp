// SPDX-License-Identifier: Apache-2.0
//
// The values with which kernels are planned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/tunables.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// Facts of the saved device with AVX-512.
Environment device_names() { return environment_of(saved_device("pocl_cpu")); }

PlanOptions with_tile(Environment values) {
  PlanOptions options;
  options.use = {{"gemm", "gemm.tile"}};
  options.tunables = {{"gemm.tile", std::move(values)}};
  return options;
}

TEST(PlanTunables, SetValuesReachTheLaunchAndTheInstance) {
  const Plan plan = plan_of(make_mlp(1), 17, saved_device("pocl_cpu"), with_tile({{"TILE_M", 1}}));
  int seen = 0;
  for (const Step& step : plan.steps) {
    if (step.kernel != "gemm.tile") continue;
    ++seen;
    EXPECT_EQ(step.tunables.at("TILE_M"), 1);
    EXPECT_EQ(step.tunables.at("TILE_N"), 64);
    EXPECT_THAT(step.reason.print(), testing::HasSubstr("LANES=16 TILE_M=1 TILE_N=64, as set"));
    const InstanceSource& source = plan.instances[step.launch()->instance];
    EXPECT_NE(source.text.find("#define TILE_M 1\n"), std::string::npos);
  }
  EXPECT_EQ(seen, 3);
}

TEST(PlanTunables, TheBatchedTwinFollowsItsGemm) {
  const Catalogue catalogue = Catalogue::standard();
  const Entry* twin = catalogue.find_entry("batched_gemm.tile");
  ASSERT_NE(twin, nullptr);
  PlanOptions options = with_tile({{"TILE_M", 8}});
  EXPECT_EQ(required(choose_tunables(*twin, device_names(), options)).values.at("TILE_M"), 8);
  options.tunables["batched_gemm.tile"] = {{"TILE_M", 2}};
  EXPECT_EQ(required(choose_tunables(*twin, device_names(), options)).values.at("TILE_M"), 2);
  EXPECT_EQ(required(choose_tunables(*twin, device_names(), options)).from, "as set");
  EXPECT_EQ(required(choose_tunables(*twin, device_names(), {})).from, "the entry's standard");
}

TEST(PlanTunables, TheyGoBeforeTheWorkGroup) {
  const Catalogue catalogue = Catalogue::standard();
  PlanOptions options;
  options.local = {4, 16};
  options.tunables = {{"gemm.rm_rm", {{"LOCAL_M", 8}}}};
  const ChosenTunables chosen =
      required(choose_tunables(*catalogue.find_entry("gemm.rm_rm"), device_names(), options));
  EXPECT_EQ(chosen.values, (Environment{{"LOCAL_M", 8}, {"LOCAL_N", 16}}));
}

/// A row of patches alone: 8 of 16 x 8 work-items would do nothing but end.
TEST(PlanTunables, AWorkGroupMayFollowTheExtents) {
  PlanOptions options;
  options.use = {{"gemm", "gemm.a16_image"}};
  const DeviceInfo device = saved_device("adreno_530");
  const auto first_product = [&](const PlanOptions& with) {
    const Plan plan = plan_of(make_mlp(1), 17, device, with);
    return *std::ranges::find(plan.steps, "gemm.a16_image", &Step::kernel);
  };
  const Step fitting = first_product(options);
  EXPECT_EQ(fitting.tunables.at("LOCAL_M"), 4);
  EXPECT_EQ(fitting.tunables.at("LOCAL_N"), 32);
  EXPECT_THAT(fitting.reason.print(), testing::HasSubstr("fewest work-items idle"));
  // What is asked for comes before the rule, if it is the standard too.
  options.local = {16, 8};
  EXPECT_EQ(first_product(options).tunables.at("LOCAL_M"), 8);
  options.local = {};
  options.tunables = {{"gemm.a16_image", {{"LOCAL_M", 8}, {"LOCAL_N", 16}}}};
  EXPECT_EQ(first_product(options).tunables.at("LOCAL_M"), 8);
}

TEST(PlanTunables, ARequirementThatTheyBreakIsAReason) {
  PlanOptions options;
  options.use = {{"gemm", "gemm.local_tile"}};
  options.tunables = {{"gemm.local_tile", {{"TILE_N", 256}, {"TILE_M", 16}, {"PATCH_N", 4}}}};
  DeviceInfo device = saved_device("pocl_cpu");
  device.compute.max_work_group_size = 64;
  EXPECT_THROW(static_cast<void>(plan_of(make_mlp(1), 17, device, options)), UsageError);
}

TEST(PlanTunables, UnknownNamesAreUsageErrors) {
  const DeviceInfo device = saved_device("pocl_cpu");
  for (const auto& [kernel, values] :
       std::vector<std::pair<std::string, Environment>>{{"gemm.nave", {{"TILE_M", 1}}},
                                                        {"gemm.tile", {{"TILE", 1}}},
                                                        {"gemm.tile", {{"TILE_M", 3}}}}) {
    PlanOptions options;
    options.tunables = {{kernel, values}};
    EXPECT_THROW(static_cast<void>(plan_of(make_mlp(1), 3, device, options)), UsageError);
  }
}

}  // namespace
}  // namespace morton::test
