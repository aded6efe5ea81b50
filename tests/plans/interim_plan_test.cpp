// SPDX-License-Identifier: Apache-2.0
//
// Interim plans: their kernels depend on no model, so what one model built serves all others.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "graph/architectures.hpp"
#include "graph/graph.hpp"
#include "passes/pipeline.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

Plan interim_of(const Graph& graph, const Shape& input, const DeviceInfo& device) {
  PassOptions passes;
  for (const TensorId id : graph.inputs) passes.shapes[graph.tensor(id).name] = input;
  Graph ready = graph;
  run_passes(ready, passes);
  return make_plan(ready, device, KernelPolicy(Catalogue::shared(), PlanOptions()).generic());
}

/// By key, what the plan's kernels are.
std::map<std::string, std::string> keyed_kernels(const Plan& plan) {
  std::map<std::string, std::string> kernels;
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      if (step.launch() == nullptr) continue;
      kernels[plan.instances[step.launch()->instance].key] = step.kernel;
    }
  }
  return kernels;
}

using NetworkOnDevice = std::tuple<std::string, std::string>;

class InterimPlan : public ::testing::TestWithParam<NetworkOnDevice> {};

TEST_P(InterimPlan, HasGenericKernelsAlone) {
  const auto& [saved, network] = GetParam();
  const DeviceInfo device = saved_device(saved);
  const auto known = keyed_kernels(interim_of(generic_kernels_network(), {1, 3, 40, 40}, device));
  const Graph graph = build(find_architecture(network), 1);
  const bool is_grey = network == "lenet5" || network == "espcn";
  const std::int64_t size = network == "lenet5" ? 32 : 224;
  const auto own = keyed_kernels(interim_of(graph, {1, is_grey ? 1 : 3, size, size}, device));
  for (const auto& [key, kernel] : own) EXPECT_TRUE(known.contains(key)) << kernel;
}

/// Names of all kernels of LeNet-5's interim plan.
std::set<std::string> lenet_kernels(const DeviceInfo& device) {
  const Graph graph = build(find_architecture("lenet5"), 1);
  std::set<std::string> names;
  for (const auto& [key, kernel] : keyed_kernels(interim_of(graph, {1, 1, 32, 32}, device))) {
    names.insert(kernel);
  }
  return names;
}

TEST(InterimPlanOnABadDriver, HasNoKernelThatEndsTheProcess) {
  DeviceInfo device = saved_device("pocl_cpu");
  EXPECT_TRUE(lenet_kernels(device).contains("elementwise.program"));
  device.quirks = {"rusticl-llvmpipe-program-memory"};
  const std::set<std::string> names = lenet_kernels(device);
  EXPECT_TRUE(names.contains("elementwise.program_items"));
  for (const char* fatal : {"elementwise.program", "pack.program", "pack.program_part"}) {
    EXPECT_FALSE(names.contains(fatal)) << fatal;
  }
}

std::string name_of(const ::testing::TestParamInfo<NetworkOnDevice>& test) {
  return std::get<0>(test.param) + "_" + std::get<1>(test.param);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, InterimPlan,
    ::testing::Combine(::testing::Values("pocl_cpu", "nvidia_h200"),
                       ::testing::Values("lenet5", "mobilenet_v2", "squeezenet1_1", "resnet18",
                                         "resnet50", "resnext50_32x4d", "efficientnet_b0",
                                         "densenet121", "shufflenet_v2", "unet", "espcn",
                                         "tiny_yolo", "vgg16")),
    name_of);
// On a board UNet and VGG-16 take seconds, so kernels of their own pay; EfficientNet's many small
// products leave units idle with the generic kernel.
INSTANTIATE_TEST_SUITE_P(Boards, InterimPlan,
                         ::testing::Combine(::testing::Values("mali_t628"),
                                            ::testing::Values("lenet5", "mobilenet_v2", "resnet18",
                                                              "densenet121", "shufflenet_v2")),
                         name_of);

}  // namespace
}  // namespace morton::test
