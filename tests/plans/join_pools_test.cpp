// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and the pools behind them as one step: when, and what is said of it.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/ir/print.hpp"
#include "plan/policy/plan_options.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

const std::map<std::string, Attribute> kHalve{{"kernel_shape", std::vector<std::int64_t>{2, 2}},
                                              {"strides", std::vector<std::int64_t>{2, 2}}};

/// Two channels of 17 x 19, a convolution to seven, `between` the pool and that, if anything.
struct PooledNetwork {
  explicit PooledNetwork(const std::string& between) : network("pooled", 1) {
    x = network.input("x", {-1, 2, 17, 19});
    convolved = network.conv(x, 2, 7, {.size = 3});
    const TensorId mapped = between.empty() ? convolved : network.node(between, {convolved});
    network.output(network.node("MaxPool", {mapped}, kHalve));
  }
  NetworkBuilder network;
  TensorId x, convolved;
};

std::string kernels_of(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) text += (text.empty() ? "" : " ") + step.kernel;
  return text;
}

std::string cpu_kernels_of(const Graph& graph, const PlanOptions& options = {}) {
  return kernels_of(plan_of(graph, 3, saved_device("pocl_cpu"), options));
}

PlanOptions using_kernel(const std::string& family, const std::string& kernel) {
  PlanOptions options;
  options.use[family] = kernel;
  return options;
}

TEST(JoinPools, OneStepWhereAKernelDoesBothInLessTime) {
  for (const char* between : {"", "Relu", "Tanh", "Sigmoid"}) {
    const Graph graph = PooledNetwork(between).network.finish();
    EXPECT_TRUE(cpu_kernels_of(graph).starts_with("conv2d_pool.planes")) << between;
    const Plan plan = plan_of(graph, 3, saved_device("pocl_cpu"));
    EXPECT_EQ(plan.steps.size(), 1U) << print(plan, PlanDetail::brief);
  }
}

TEST(JoinPools, ManyChannelsStayApart) {
  NetworkBuilder network("many", 1);
  const TensorId x = network.input("x", {-1, 64, 56, 56});
  const TensorId relu = network.relu(network.conv(x, 64, 64, {.size = 3, .pad = 1}));
  network.output(network.node("MaxPool", {relu}, kHalve));
  const Plan plan = plan_of(network.finish(), 1, saved_device("pocl_cpu"));
  EXPECT_EQ(kernels_of(plan).find("conv2d_pool"), std::string::npos) << kernels_of(plan);
  EXPECT_NE(print(plan, PlanDetail::why).find("behind it: two steps"), std::string::npos);
}

TEST(JoinPools, WhatSomebodyElseReadsStaysApart) {
  PooledNetwork output("");
  output.network.output(output.convolved);
  EXPECT_EQ(cpu_kernels_of(output.network.finish()).find("conv2d_pool"), std::string::npos);
  PooledNetwork reader("");
  reader.network.output(reader.network.node("AveragePool", {reader.convolved}, kHalve));
  EXPECT_EQ(cpu_kernels_of(reader.network.finish()).find("conv2d_pool"), std::string::npos);
}

TEST(JoinPools, AnEpilogueThatTheFamilyLacksStaysApart) {
  EXPECT_EQ(cpu_kernels_of(PooledNetwork("Softplus").network.finish()).find("conv2d_pool"),
            std::string::npos);
}

TEST(JoinPools, KernelsThatAreNamedAreUsed) {
  const Graph graph = PooledNetwork("Relu").network.finish();
  EXPECT_EQ(cpu_kernels_of(graph, using_kernel("conv2d", "conv2d.naive")),
            "conv2d.naive max_pool2d.planes");
  EXPECT_EQ(
      cpu_kernels_of(graph, using_kernel("max_pool2d", "max_pool2d.naive")).find("conv2d_pool"),
      std::string::npos);
  EXPECT_EQ(cpu_kernels_of(graph, using_kernel("conv2d_pool", "conv2d_pool.naive")),
            "conv2d_pool.naive");
}

TEST(JoinPools, ThePlanSaysWhy) {
  const Graph graph = PooledNetwork("Relu").network.finish();
  const std::string why = print(plan_of(graph, 3, saved_device("pocl_cpu")), PlanDetail::why);
  EXPECT_NE(why.find("one step, conv2d_pool."), std::string::npos) << why;
  EXPECT_NE(why.find("; apart conv2d."), std::string::npos) << why;
}

}  // namespace
}  // namespace morton::test
