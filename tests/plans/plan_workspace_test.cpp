// SPDX-License-Identifier: Apache-2.0
//
// The limit of the workspace that was asked for holds for what is allocated.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/policy/plan_options.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

TEST(PlanWorkspace, TheLimitHoldsWithPaddingAndCopiesBetweenSteps) {
  // Tiles of Winograd's transforms are padded for the product, or copied into its format.
  NetworkBuilder network("one_convolution", 1);
  const TensorId x = network.input("x", {-1, 67, 130, 126});
  network.output(network.conv(x, 67, 65, NetworkBuilder::Filter{.size = 3, .pad = 1}));
  const Graph graph = network.finish();
  for (const char* name : {"pocl_cpu", "nvidia_h200"}) {
    for (const char* recipe : {"conv2d.winograd_4x4", "conv2d.winograd_2x2"}) {
      for (const std::int64_t limit_mib : {3, 9}) {
        SCOPED_TRACE(std::string(name) + " " + recipe + " " + std::to_string(limit_mib) + " MiB");
        PlanOptions options;
        options.use = {{"conv2d", recipe}};
        options.workspace_limit_bytes = limit_mib << 20;
        const Plan plan = plan_of(graph, 1, saved_device(name), options);
        // Without blocks of its own the workspace takes what the largest live set says.
        const std::int64_t own = block_bytes(plan, PlannedBlock::Kind::workspace);
        const std::int64_t bytes = std::max(own, plan.largest_live.workspace);
        EXPECT_LE(bytes, *options.workspace_limit_bytes);
        EXPECT_GT(bytes, 0);
      }
    }
  }
}

}  // namespace
}  // namespace morton::test
