// SPDX-License-Identifier: Apache-2.0
//
// Winograd's recipe in slabs: the workspace limit decides how many, and the answers stay right.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/numbers/checked.hpp"
#include "device/catalogue/catalogue_runs.hpp"
#include "device/plan_memory.hpp"
#include "passes/pipeline.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "run/runner.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class RecipeSlabs : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(RecipeSlabs);

/// Two images with odd extents: 2 * 10 * 11 tiles, so that no slab ends with an image or a row.
constexpr const char* kCase = "slabs | 2x5x19x21 7x5x3x3! 7! | pads=[1,1,1,1] | Relu";
constexpr std::int64_t kTiles = 2 * 10 * 11;

Plan plan_within(std::int64_t limit_bytes, const Graph& graph, const DeviceInfo& device,
                 const std::string& transforms) {
  Graph prepared = graph;
  run_passes(prepared, {});
  PlanOptions options;
  options.workspace_limit_bytes = limit_bytes;
  options.use = {{"conv2d", "conv2d.winograd_2x2"},
                 {"batched_gemm", "batched_gemm.naive"},
                 {"winograd_input", "winograd_input." + transforms},
                 {"winograd_output", "winograd_output." + transforms}};
  return make_plan(prepared, Catalogue::standard(), device, options);
}

std::int64_t count_of(const std::vector<Step>& steps, const std::string& kernel) {
  return std::count_if(steps.begin(), steps.end(),
                       [&](const Step& step) { return step.kernel == kernel; });
}

void expect_slabs(const std::shared_ptr<OpenClDevice>& device, const std::string& transforms) {
  const OperatorCase test = parse_case("Conv", kCase, "recipe_slabs_test");
  // 16 products of the patches' 5 and the results' 7 channels, 4 bytes each, in two temporaries.
  const auto bytes_of_tiles = [&](std::int64_t tiles) {
    const std::int64_t alignment = device->info().memory.base_alignment_bytes;
    return round_up(16 * 5 * 4 * tiles, alignment) + round_up(16 * 7 * 4 * tiles, alignment);
  };
  for (const std::int64_t slabs : {1, 2, 4}) {
    SCOPED_TRACE(std::to_string(slabs) + " slabs");
    const std::int64_t length = (kTiles + slabs * 64 - 1) / (slabs * 64) * 64;
    const std::int64_t limit = bytes_of_tiles(std::min(length, kTiles));
    for (const DataKind kind : {DataKind::integers, DataKind::zero_mean}) {
      const TestGraph graph = to_test_graph(test, kind);
      Plan plan = plan_within(limit, graph.graph, device->info(), transforms);
      EXPECT_EQ(count_of(plan.steps, "winograd_input." + transforms),
                (kTiles + length - 1) / length);
      EXPECT_EQ(count_of(plan.load_steps, "winograd_weights.f2x2"), 1);
      const auto loaded = std::make_shared<LoadedPlan>(std::move(plan), device);
      Runner runner(loaded, OpenClDevice::QueueKind::plain);
      poison(runner);
      runner.write(runner.input("x0"), graph.inputs[0].tensor);
      runner.enqueue();
      Tensor got = Tensor::allocate(DType::f32, {2, 7, 19, 21});
      runner.read(runner.output("y"), got);
      const ReferenceTensor expected = reference_outputs(graph.graph, graph.inputs)[0];
      const Comparison comparison = kind == DataKind::integers
                                        ? compare_exactly(expected, got.as<float>())
                                        : compare(expected, got.as<float>(), 8.0);
      EXPECT_TRUE(comparison.ok()) << comparison.text;
    }
  }
}

TEST_P(RecipeSlabs, AreAsManyAsTheLimitAsksFor) { expect_slabs(shared_device(), "f2x2"); }

TEST_P(RecipeSlabs, OfVectorsMayEndWithinARowOfTiles) {
  if (device().info().kind != DeviceInfo::Kind::cpu) GTEST_SKIP() << "the kernels are for CPUs";
  expect_slabs(shared_device(), "planes");
}

TEST_P(RecipeSlabs, SayHowMuchTheShortestOnesNeed) {
  const OperatorCase test = parse_case("Conv", kCase, "recipe_slabs_test");
  const TestGraph graph = to_test_graph(test, DataKind::integers);
  try {
    static_cast<void>(plan_within(1000, graph.graph, device().info(), "f2x2"));
    FAIL() << "planned";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("exceed the workspace limit of 1000"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace morton::test
