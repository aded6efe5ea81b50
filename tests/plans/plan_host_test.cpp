// SPDX-License-Identifier: Apache-2.0
//
// Where the planner lets the host compute a product, and what it says where it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/cost/cost.hpp"
#include "plan/ir/print.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/split/split.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// One product of square matrices, both from outside.
Graph square_product(std::int64_t size) {
  NetworkBuilder network("product", 1);
  const TensorId lhs = network.input("lhs", {-1, size});
  const TensorId rhs = network.input("rhs", {size, size});
  network.output(network.node("MatMul", {lhs, rhs}));
  return network.finish();
}

/// A device on which a launch takes a millisecond, and a host that is ready in 10 us.
DeviceInfo slow_to_launch(DeviceInfo device) {
  device.peaks.launch_us = 1000.0;
  device.peaks.host = {1010.0, {{1024, 0.5}, {4194304, 100.0}}};
  return device;
}

PlanOptions with_eigen() {
  PlanOptions options;
  options.libraries = {"eigen"};
  return options;
}

Plan plan_of_product(std::int64_t size, const DeviceInfo& device,
                     const PlanOptions& options = with_eigen()) {
  return plan_of(square_product(size), size, device, options);
}

TEST(PlanHost, ComputesSmallProductsWhereLaunchesAreSlow) {
  for (const char* name : {"pocl_cpu", "mali_t628", "adreno_530"}) {
    SCOPED_TRACE(name);
    const DeviceInfo device = slow_to_launch(saved_device(name));
    ASSERT_TRUE(device.memory.is_unified);
    for (const std::int64_t size : {1, 3, 8, 17, 63}) {
      const Plan plan = plan_of_product(size, device);
      EXPECT_EQ(count_of(plan, "gemm.eigen"), 1) << print(plan, PlanDetail::why);
      EXPECT_TRUE(is_on_host(plan.steps[0]));
      EXPECT_THAT(print(plan, PlanDetail::why), HasSubstr("on the host, which waits"));
    }
  }
  const Plan large = plan_of_product(1024, slow_to_launch(saved_device("pocl_cpu")));
  EXPECT_EQ(count_of(large, "gemm.eigen"), 0) << print(large, PlanDetail::why);
  EXPECT_THAT(large.considered[0].print(), HasSubstr("us  gemm.eigen"))
      << "and what it would have cost";
}

TEST(PlanHost, IsLeftAloneWhereLaunchesAreQuick) {
  DeviceInfo device = slow_to_launch(saved_device("pocl_cpu"));
  device.peaks.launch_us = 2.5;
  device.peaks.host.launch_and_step_us = 30.0;
  const Plan plan = plan_of_product(8, device);
  EXPECT_EQ(count_of(plan, "gemm.eigen"), 0) << print(plan, PlanDetail::why);
}

TEST(PlanHost, IsRefusedWithTheReason) {
  const auto reason = [](const DeviceInfo& device, const PlanOptions& options) {
    return plan_of_product(8, device, options).considered[0].print();
  };
  EXPECT_THAT(reason(saved_device("pocl_cpu"), with_eigen()),
              HasSubstr("not gemm.eigen: no measured host rate; probe measures it"));
  EXPECT_THAT(reason(saved_device("nvidia_h200"), with_eigen()),
              HasSubstr("not gemm.eigen: it requires device.unified_memory"));
  EXPECT_THAT(reason(slow_to_launch(saved_device("nvidia_h200")), with_eigen()),
              HasSubstr("not gemm.eigen: it requires device.unified_memory"));
  EXPECT_THAT(reason(slow_to_launch(saved_device("pocl_cpu")), {}),
              HasSubstr("not gemm.eigen: this build has no Eigen"));
  PlanOptions excluded = with_eigen();
  excluded.exclude = {"gemm.eigen"};
  EXPECT_THAT(reason(slow_to_launch(saved_device("pocl_cpu")), excluded),
              HasSubstr("not gemm.eigen: it is excluded by exclude"));
}

TEST(PlanHost, IsTakenByNameWhereNobodyMeasured) {
  PlanOptions options = with_eigen();
  options.use = {{"gemm", "eigen"}};
  const Plan plan = plan_of_product(63, saved_device("pocl_cpu"), options);
  EXPECT_EQ(count_of(plan, "gemm.eigen"), 1);
  EXPECT_GT(plan.steps[0].cost.estimated_us, 0.0);
}

TEST(PlanHost, DoesNotHoldUpOtherDevices) {
  const DeviceInfo device = slow_to_launch(saved_device("pocl_cpu"));
  const Catalogue catalogue = Catalogue::standard();
  const std::vector<SplitPart> parts{{prepared(square_product(8), 4), device, 4},
                                     {prepared(square_product(8), 4), device, 4}};
  const Plan plan =
      make_split_plan(prepared(square_product(8), 8), parts, KernelPolicy(catalogue, with_eigen()));
  EXPECT_EQ(count_of(plan, "gemm.eigen"), 0);
  EXPECT_THAT(plan.considered[0].print(), HasSubstr("not gemm.eigen: while the host computes"));
}

TEST(PlanHost, CostsWhatWasMeasuredAndGrowsWithTheWork) {
  const DeviceInfo device = slow_to_launch(saved_device("pocl_cpu"));
  const auto cost_us = [&](double flop) { return host_step_cost_us(flop, 0.0, device); };
  EXPECT_DOUBLE_EQ(cost_us(2.0), 10.5) << "no less than the least product";
  EXPECT_DOUBLE_EQ(cost_us(1024.0), 10.5);
  EXPECT_DOUBLE_EQ(cost_us((1024.0 + 4194304.0) / 2.0), 10.0 + 50.25);
  EXPECT_DOUBLE_EQ(cost_us(4194304.0), 110.0);
  EXPECT_DOUBLE_EQ(cost_us(3.0 * 4194304.0), 310.0);
  EXPECT_DOUBLE_EQ(host_step_cost_us(1024.0, 50.0, device), 10.0 + 50.0 + 0.05);
  EXPECT_TRUE(host_is_measured(device));
  EXPECT_FALSE(host_is_measured(saved_device("pocl_cpu")));
  EXPECT_THAT(peaks_text(device), HasSubstr("1010.0 us a launch and a step on the host"));
  EXPECT_THAT(peaks_text(saved_device("pocl_cpu")), Not(HasSubstr("host")));
}

}  // namespace
}  // namespace morton::test
