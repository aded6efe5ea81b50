// SPDX-License-Identifier: Apache-2.0
//
// Where the plan splits a product along K by itself, and where it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "plan/ir/print.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// The product of a matrix of M x K and one of K x N, both given at each run.
Graph product(std::int64_t m, std::int64_t n, std::int64_t k) {
  NetworkBuilder network("product", 1);
  const TensorId lhs = network.input("lhs", {m, k});
  const TensorId rhs = network.input("rhs", {k, n});
  network.output(network.node("Gemm", {lhs, rhs}));
  return network.finish();
}

Plan plan_product(const Shape& mnk, const DeviceInfo& device, const PlanOptions& options = {}) {
  Graph graph = product(mnk[0], mnk[1], mnk[2]);
  run_passes(graph, {});
  return make_plan(graph, Catalogue::standard(), device, options);
}

bool splits(const Plan& plan) {
  return count_of(plan, "sum.runs") + count_of(plan, "sum.single") > 0;
}

TEST(SplitK, IsChosenWhereTilesAreFewAndKIsLong) {
  const DeviceInfo device = saved_device("nvidia_h200");
  EXPECT_TRUE(splits(plan_product({64, 64, 65536}, device)));
  EXPECT_TRUE(splits(plan_product({128, 128, 8192}, device)));
  EXPECT_FALSE(splits(plan_product({4096, 4096, 4096}, device)));
  EXPECT_FALSE(splits(plan_product({64, 64, 64}, device)));
}

TEST(SplitK, WhyNamesTheNumberOfPartsAndWhatSpeaksAgainstIt) {
  const DeviceInfo device = saved_device("nvidia_h200");
  const std::string split = print(plan_product({64, 64, 65536}, device), PlanDetail::why);
  EXPECT_NE(split.find("gemm.split_k S=64/batched_gemm."), std::string::npos) << split;
  const std::string whole = print(plan_product({4096, 4096, 4096}, device), PlanDetail::why);
  EXPECT_NE(whole.find("not gemm.split_k: with S=2, it requires ceil_div(M, 64)"),
            std::string::npos)
      << whole;
}

TEST(SplitK, TakesTheNumberOfPartsThatIsSet) {
  PlanOptions options;
  options.use = {{"gemm", "gemm.split_k"}};
  options.tunables = {{"gemm.split_k", {{"S", 16}}}};
  for (const auto& name : saved_devices()) {
    SCOPED_TRACE(name);
    const Plan plan = plan_product({63, 17, 100}, saved_device(name), options);
    EXPECT_TRUE(splits(plan));
    // Parts of 7 elements: 15 of them reach 100.
    const std::string text = print(plan, PlanDetail::why);
    EXPECT_NE(text.find("gemm.split_k S=16/"), std::string::npos) << text;
    EXPECT_NE(text.find("B=15 DEPTH=7 K=7"), std::string::npos) << text;
  }
}

TEST(SplitK, APartHasAtLeastOneElement) {
  PlanOptions options;
  options.use = {{"gemm", "gemm.split_k"}};
  const DeviceInfo device = saved_device("pocl_cpu");
  EXPECT_TRUE(splits(plan_product({3, 17, 2}, device, options)));
  EXPECT_THROW(static_cast<void>(plan_product({3, 17, 1}, device, options)), UsageError);
  options.tunables = {{"gemm.split_k", {{"S", 4}}}};
  EXPECT_THROW(static_cast<void>(plan_product({3, 17, 3}, device, options)), UsageError);
}

/// The products inside are kernels, and with sides swapped it is one level, not more.
TEST(SplitK, DoesNotSplitItsOwnParts) {
  const Catalogue catalogue = Catalogue::standard();
  const Recipe* recipe = catalogue.find_recipe("gemm.split_k");
  ASSERT_NE(recipe, nullptr);
  for (const RecipeStep& step : recipe->steps) EXPECT_NE(step.family, recipe->family);
  const Plan plan = plan_product({64, 64, 65536}, saved_device("nvidia_h200"));
  EXPECT_EQ(count_of(plan, "sum.runs") + count_of(plan, "sum.single"), 1);
}

/// The gradient of a convolution's weights: the batch is its channels, and the gradient of the
/// result, as large as an image, its filters.
Plan plan_weights_gradient(const PlanOptions& options) {
  NetworkBuilder network("weights_gradient", 1);
  const TensorId image = network.input("image", {32, 100, 14, 14});
  const TensorId filters = network.input("filters", {64, 100, 14, 14});
  network.output(
      network.node("Conv", {image, filters}, {{"pads", std::vector<std::int64_t>(4, 2)}}));
  Graph graph = network.finish();
  run_passes(graph, {});
  return make_plan(graph, Catalogue::standard(), saved_device("nvidia_h200"), options);
}

TEST(SplitK, ColumnsOfAConvolutionOfFewPixelsAreWrittenInParts) {
  PlanOptions options;
  options.exclude = {"conv2d.channel_parts"};
  const Plan plan = plan_weights_gradient(options);
  ASSERT_EQ(plan.decisions.size(), 1U);
  const std::string way = plan.decisions.begin()->second.way;
  EXPECT_TRUE(way.starts_with("conv2d.im2col_parts/")) << way;
  // Each part multiplies DEPTH of the C*KH*KW elements, the last one what is left.
  const auto product = std::ranges::find_if(
      plan.steps, [](const Step& step) { return step.kernel.starts_with("batched_gemm."); });
  ASSERT_NE(product, plan.steps.end()) << way;
  const std::int64_t parts = product->tuned_as.extents.at("B");
  const std::int64_t depth = product->tuned_as.extents.at("K");
  EXPECT_GT(parts, 1);
  EXPECT_EQ(parts, ceil_div(std::int64_t{100} * 14 * 14, depth));
  const std::string sizes = "B=" + std::to_string(parts) + " DEPTH=" + std::to_string(depth);
  EXPECT_NE(product->problem.find(sizes), std::string::npos) << product->problem;
  EXPECT_TRUE(splits(plan)) << way;
}

TEST(SplitK, ChannelsOfAConvolutionOfFewPixelsArePartedWithoutColumns) {
  const Plan plan = plan_weights_gradient({});
  ASSERT_EQ(plan.decisions.size(), 1U);
  const std::string way = plan.decisions.begin()->second.way;
  EXPECT_TRUE(way.starts_with("conv2d.channel_parts/conv2d.async_gathered")) << way;
  const auto product = std::ranges::find_if(
      plan.steps, [](const Step& step) { return step.kernel.starts_with("conv2d."); });
  ASSERT_NE(product, plan.steps.end()) << way;
  // A group for each part of the channels, with all filters.
  const std::int64_t parts = product->tuned_as.structure.at("G");
  EXPECT_GT(parts, 1);
  EXPECT_EQ(parts * product->tuned_as.structure.at("I"), 100);
  EXPECT_EQ(product->tuned_as.extents.at("O"), 64 * parts);
  EXPECT_TRUE(splits(plan)) << way;
}

TEST(SplitK, UnknownValuesAreUsageErrors) {
  PlanOptions options;
  options.tunables = {{"gemm.split_k", {{"S", 3}}}};
  const DeviceInfo device = saved_device("pocl_cpu");
  EXPECT_THROW(static_cast<void>(plan_product({3, 17, 63}, device, options)), UsageError);
  options.tunables = {{"gemm.split_k", {{"T", 2}}}};
  EXPECT_THROW(static_cast<void>(plan_product({3, 17, 63}, device, options)), UsageError);
}

}  // namespace
}  // namespace morton::test
