// SPDX-License-Identifier: Apache-2.0
//
// What a plan needs of a device is seen where the device lacks it.
#include "plans/device_needs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/policy/plan_options.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DeviceNeeds, WorkGroupsMemoryAndArguments) {
  const DeviceInfo device = saved_device("mali_t628");
  Plan plan = plan_of(network_named("lenet5"), 1, device);
  EXPECT_THAT(needs_beyond(plan, device), IsEmpty());
  DeviceInfo other = device;
  other.compute.max_work_group_size = 1;
  EXPECT_THAT(needs_beyond(plan, other), Contains(HasSubstr("has work-groups of")));
  other = device;
  other.compute.max_work_item_sizes = {1, 1, 1};
  EXPECT_THAT(needs_beyond(plan, other), Contains(HasSubstr("local size")));
  other = device;
  other.memory.max_allocation_bytes = 1000;
  EXPECT_THAT(needs_beyond(plan, other), Contains(HasSubstr("allocates at most 1000")));
  other = device;
  other.memory.global_bytes = 1000;
  EXPECT_THAT(needs_beyond(plan, other), Contains(HasSubstr("memory of ")));
  auto& arguments = plan.steps.front().arguments;
  for (std::int64_t i = 0; i < 60; ++i) arguments.push_back({"n" + std::to_string(i), i});
  EXPECT_THAT(needs_beyond(plan, device), IsEmpty());
  other = device;
  other.driver.profile = "EMBEDDED_PROFILE";
  EXPECT_THAT(needs_beyond(plan, other), Contains(HasSubstr("bytes of arguments")));
}

TEST(DeviceNeeds, Images) {
  const DeviceInfo device = saved_device("adreno_530");
  NetworkBuilder network("one_product", 1);
  const TensorId x = network.input("x", {-1, 64});
  network.output(network.node("MatMul", {x, network.parameter({64, 64}, 64)}));
  PlanOptions options;
  options.use = {{"gemm", "gemm.a16_image"}};
  const Plan plan = plan_of(network.finish(), 64, device, options);
  DeviceInfo other = device;
  other.memory.global_bytes = 1 << 30;  // the file knows none
  EXPECT_THAT(needs_beyond(plan, other), IsEmpty());
  other.image.max_height = 1;
  EXPECT_THAT(needs_beyond(plan, other), Contains(HasSubstr("needs an image of ")));
  other.image.supported = false;
  EXPECT_THAT(needs_beyond(plan, other), Contains(HasSubstr("needs an image")));
}

/// As if a plan had it, which launches it once.
Plan plan_with(const std::string& text) {
  Plan plan;
  InstanceSource kernel;
  kernel.function = "f";
  kernel.text = text;
  kernel.key = text;
  Step step;
  step.kernel = "family.f";
  step.action = KernelLaunch{plan.instances.add(kernel)};
  plan.steps.push_back(step);
  return plan;
}

TEST(DeviceNeeds, Texts) {
  if (!has_clang()) GTEST_SKIP() << "no clang-14, which compiles the texts";
  DeviceInfo device = saved_device("mali_t628");
  device.driver.profile = "EMBEDDED_PROFILE";
  const Plan half = plan_with(
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
      "kernel void f(global half* x) { x[0] = x[1] * x[2]; }");
  EXPECT_THAT(texts_beyond(half, device), Contains(HasSubstr("f is not compiled")));
  device.features.extensions = "cl_khr_fp16";
  device.features.fp16 = true;
  EXPECT_THAT(texts_beyond(half, device), IsEmpty());
  const Plan group = plan_with("kernel void f(global int* x) { x[0] = sub_group_all(x[1]); }");
  EXPECT_THAT(texts_beyond(group, device), Contains(HasSubstr("sub_group_all")));
  const Plan local = plan_with(
      "kernel void f(global float* x) { local float3 a[2][1024]; local uchar b[8];"
      "  a[0][1] = x[0]; b[0] = x[1]; barrier(CLK_LOCAL_MEM_FENCE); x[2] = a[0][1].x + b[0]; }");
  EXPECT_THAT(texts_beyond(local, device), ElementsAre("f needs 32776 bytes of local memory"));
  EXPECT_THAT(kernels_with_long(local, device), IsEmpty());
  const Plan wide = plan_with("kernel void f(global int* x) { x[0] = (long)x[1] * x[2] >> 40; }");
  EXPECT_THAT(kernels_with_long(wide, device), ElementsAre("family.f"));
  device.features.extensions = "cles_khr_int64";
  EXPECT_THAT(kernels_with_long(wide, device), IsEmpty());
}

}  // namespace
}  // namespace morton::test
