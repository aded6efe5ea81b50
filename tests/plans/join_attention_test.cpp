// SPDX-License-Identifier: Apache-2.0
//
// Attention as one step: when, and what is said of it.
#include <gtest/gtest.h>

#include "plan/ir/print.hpp"
#include "plan/policy/plan_options.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kWide = 32;
constexpr std::int64_t kLong = 64;

std::map<std::string, Attribute> order(std::vector<std::int64_t> dimensions) {
  return {{"perm", std::move(dimensions)}};
}

/// Queries, keys and values [1, kLong, kHeads, kWide] as products leave them, and attention over
/// them.
struct AttentionNetwork {
  AttentionNetwork() : network("attention", 1) {
    for (const char* name : {"q", "k", "v"}) {
      inputs.push_back(network.input(name, {1, kLong, kHeads, kWide}));
    }
    const TensorId query = network.node("Transpose", {inputs[0]}, order({0, 2, 1, 3}));
    const TensorId key = network.node("Transpose", {inputs[1]}, order({0, 2, 3, 1}));
    scores = network.node("MatMul", {query, key});
  }
  /// From the scores, or what was made of them, to the result.
  TensorId behind(TensorId shown, std::int64_t axis = -1) {
    shares = network.node("Softmax", {shown}, {{"axis", axis}});
    const TensorId value = network.node("Transpose", {inputs[2]}, order({0, 2, 1, 3}));
    const TensorId result = network.node("MatMul", {shares, value});
    return network.node("Transpose", {result}, order({0, 2, 1, 3}));
  }

  NetworkBuilder network;
  std::vector<TensorId> inputs;
  TensorId scores, shares;
};

Plan cpu_plan(const Graph& graph, const PlanOptions& options = {}) {
  return plan_of(graph, 1, saved_device("pocl_cpu"), options);
}

TEST(JoinAttention, OneStepWithItsTransposes) {
  AttentionNetwork attention;
  const TensorId mask = attention.network.input("mask", {1, 1, 1, kLong});
  const TensorId masked = attention.network.node("Add", {attention.scores, mask});
  attention.network.output(attention.behind(masked));
  const Plan plan = cpu_plan(attention.network.finish());
  ASSERT_EQ(plan.steps.size(), 1U) << print(plan, PlanDetail::brief);
  EXPECT_EQ(plan.steps.front().kernel, "attention.columns");
  const std::string why = print(plan, PlanDetail::why);
  EXPECT_NE(why.find("one step, attention.columns"), std::string::npos) << why;
}

TEST(JoinAttention, NoMaskIsAMaskOfZeros) {
  AttentionNetwork attention;
  attention.network.output(attention.behind(attention.scores));
  const Plan plan = cpu_plan(attention.network.finish());
  ASSERT_EQ(plan.steps.size(), 1U) << print(plan, PlanDetail::brief);
  EXPECT_NE(print(plan, PlanDetail::why).find("no mask"), std::string::npos);
}

TEST(JoinAttention, WhatSomebodyElseReadsStaysApart) {
  AttentionNetwork scores;
  scores.network.output(scores.behind(scores.scores));
  scores.network.output(scores.scores);
  EXPECT_EQ(count_of(cpu_plan(scores.network.finish()), "attention.columns"), 0);
  AttentionNetwork shares;
  shares.network.output(shares.behind(shares.scores));
  shares.network.output(shares.shares);
  EXPECT_EQ(count_of(cpu_plan(shares.network.finish()), "attention.columns"), 0);
}

TEST(JoinAttention, OtherArithmeticStaysApart) {
  AttentionNetwork bent;
  bent.network.output(bent.behind(bent.network.node("Tanh", {bent.scores})));
  EXPECT_EQ(count_of(cpu_plan(bent.network.finish()), "attention.columns"), 0);
  AttentionNetwork down;
  down.network.output(down.behind(down.scores, 2));
  EXPECT_EQ(count_of(cpu_plan(down.network.finish()), "attention.columns"), 0);
}

TEST(JoinAttention, AMaskBeforeTheScaleStaysApart) {
  AttentionNetwork attention;
  const TensorId mask = attention.network.input("mask", {1, 1, 1, kLong});
  const TensorId masked = attention.network.node("Add", {attention.scores, mask});
  const TensorId scale = attention.network.parameter({1}, 1);
  attention.network.output(attention.behind(attention.network.node("Mul", {masked, scale})));
  EXPECT_EQ(count_of(cpu_plan(attention.network.finish()), "attention.columns"), 0);
}

TEST(JoinAttention, ATransposeThatSomebodyElseReadsStays) {
  AttentionNetwork attention;
  attention.network.output(attention.behind(attention.scores));
  const TensorId again =
      attention.network.node("Transpose", {attention.inputs[2]}, order({0, 2, 1, 3}));
  attention.network.output(again);
  const Plan plan = cpu_plan(attention.network.finish());
  EXPECT_EQ(plan.steps.size(), 2U) << print(plan, PlanDetail::brief);
  EXPECT_EQ(count_of(plan, "attention.columns"), 1);
}

TEST(JoinAttention, OneTransposeOfQueriesAndValuesGoes) {
  NetworkBuilder network("shared", 1);
  const TensorId x = network.input("x", {1, kLong, kHeads, kWide});
  const TensorId heads = network.node("Transpose", {x}, order({0, 2, 1, 3}));
  const TensorId keys = network.node("Transpose", {x}, order({0, 2, 3, 1}));
  const TensorId shares = network.node("Softmax", {network.node("MatMul", {heads, keys})},
                                       {{"axis", std::int64_t{-1}}});
  network.output(network.node("MatMul", {shares, heads}));
  const Plan plan = cpu_plan(network.finish());
  EXPECT_EQ(count_of(plan, "attention.columns"), 1) << print(plan, PlanDetail::brief);
  EXPECT_LE(plan.steps.size(), 2U) << print(plan, PlanDetail::brief);
}

TEST(JoinAttention, ATransposeBetweenTwoAttentionsIsPartOfOne) {
  AttentionNetwork first;
  NetworkBuilder& network = first.network;
  // Its result, of [1, kLong, kHeads, kWide], is turned to the next one's keys.
  const TensorId shares = network.node("Softmax", {first.scores}, {{"axis", std::int64_t{-1}}});
  const TensorId value = network.node("Transpose", {first.inputs[2]}, order({0, 2, 1, 3}));
  const TensorId keys =
      network.node("Transpose", {network.node("MatMul", {shares, value})}, order({0, 1, 3, 2}));
  const TensorId query = network.node("Transpose", {first.inputs[0]}, order({0, 2, 1, 3}));
  const TensorId again = network.node("Softmax", {network.node("MatMul", {query, keys})},
                                      {{"axis", std::int64_t{-1}}});
  network.output(network.node("MatMul", {again, value}));
  const Plan plan = cpu_plan(network.finish());
  EXPECT_EQ(count_of(plan, "attention.columns"), 1) << print(plan, PlanDetail::brief);
  EXPECT_NE(print(plan, PlanDetail::why).find("part of another attention"), std::string::npos);
}

TEST(JoinAttention, TwoAttentionsShareTransposes) {
  NetworkBuilder network("shared memory", 1);
  const TensorId keys = network.node("Transpose", {network.input("k", {1, kLong, kHeads, kWide})},
                                     order({0, 2, 3, 1}));
  const TensorId values = network.node("Transpose", {network.input("v", {1, kLong, kHeads, kWide})},
                                       order({0, 2, 1, 3}));
  for (const char* name : {"a", "b"}) {
    const TensorId query = network.node(
        "Transpose", {network.input(name, {1, kLong, kHeads, kWide})}, order({0, 2, 1, 3}));
    const TensorId shares = network.node("Softmax", {network.node("MatMul", {query, keys})},
                                         {{"axis", std::int64_t{-1}}});
    network.output(
        network.node("Transpose", {network.node("MatMul", {shares, values})}, order({0, 2, 1, 3})));
  }
  const Plan plan = cpu_plan(network.finish());
  EXPECT_EQ(count_of(plan, "attention.columns"), 2) << print(plan, PlanDetail::brief);
  EXPECT_EQ(plan.steps.size(), 2U) << print(plan, PlanDetail::brief);
}

TEST(JoinAttention, CopiesOfHeadsThatLieFirstAreCounted) {
  NetworkBuilder network("first", 1);
  const TensorId query = network.input("q", {1, kHeads, kLong, kWide});
  const TensorId key = network.input("k", {1, kHeads, kWide, kLong});
  const TensorId value = network.input("v", {1, kHeads, kLong, kWide});
  const TensorId shares =
      network.node("Softmax", {network.node("MatMul", {query, key})}, {{"axis", std::int64_t{-1}}});
  network.output(network.node("MatMul", {shares, value}));
  const std::string why = print(cpu_plan(network.finish()), PlanDetail::why);
  EXPECT_NE(why.find(" and copies in "), std::string::npos) << why;
}

TEST(JoinAttention, KernelsThatAreNamedAreUsed) {
  AttentionNetwork attention;
  attention.network.output(attention.behind(attention.scores));
  const Graph graph = attention.network.finish();
  PlanOptions options;
  options.use["softmax"] = "softmax.rows";
  EXPECT_EQ(count_of(cpu_plan(graph, options), "softmax.rows"), 1);
  options.use = {{"gemm", "gemm.tile"}};
  EXPECT_EQ(count_of(cpu_plan(graph, options), "batched_gemm.tile"), 2);
  options.use = {{"attention", "attention.naive"}};
  EXPECT_EQ(count_of(cpu_plan(graph, options), "attention.naive"), 1);
}

TEST(JoinAttention, DevicesWithoutAKernelForItKeepTheSteps) {
  AttentionNetwork attention;
  attention.network.output(attention.behind(attention.scores));
  const Plan plan = plan_of(attention.network.finish(), 1, saved_device("mali_t628"));
  EXPECT_GT(plan.steps.size(), 2U);
  EXPECT_NE(print(plan, PlanDetail::why).find("no kernel does all"), std::string::npos);
}

TEST(JoinAttention, OnAGpuItIsLeftApartWhereThatIsEstimatedToBeFaster) {
  AttentionNetwork attention;
  attention.network.output(attention.behind(attention.scores));
  const Plan plan = plan_of(attention.network.finish(), 1, saved_device("nvidia_h200"));
  const std::string why = print(plan, PlanDetail::why);
  EXPECT_NE(why.find("seven steps, not attention.tiles_low"), std::string::npos) << why;
}

}  // namespace
}  // namespace morton::test
