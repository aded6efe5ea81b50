// SPDX-License-Identifier: Apache-2.0
//
// Tensors between steps: in which order and of which type they lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/ir/print.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// A head of attention that stands alone: 3 x 7 x 1 x 3 turned to 3 x 1 x 7 x 3 keeps its elements'
/// order, but a product that reads columns does not find them there.
TEST(PlanLayouts, DimensionsOfOneElementChangePlacesByACopy) {
  NetworkBuilder network("turned", 1);
  const TensorId value = network.relu(network.input("x", {3, 7, 3}));
  const TensorId apart = network.node("Reshape", {value, network.list({3, 7, 1, 3})});
  const TensorId turned =
      network.node("Transpose", {apart}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  network.output(network.node("MatMul", {network.input("s", {3, 1, 7, 7}), turned}));
  PlanOptions options;
  options.use = {{"batched_gemm", "batched_gemm.row_dots"}};
  const Plan plan = plan_of(network.finish(), 3, saved_device("pocl_avx2"), options);
  const auto packs = std::ranges::count_if(
      plan.steps, [](const Step& step) { return step.kernel.starts_with("pack."); });
  EXPECT_GE(packs, 1) << print(plan, PlanDetail::brief);
}

/// The reduction wishes for an order of its operand; the condition beside that stays of bools.
TEST(PlanLayouts, AConditionBesideRealsKeepsItsType) {
  NetworkBuilder network("conditions", 1);
  const TensorId value = network.input("x", {1, 3, 2, 1});
  const TensorId most =
      network.node("ReduceMax", {value}, {{"axes", std::vector<std::int64_t>{3}}});
  const TensorId seen = network.node("Greater", {most, network.parameter({1}, 1)});
  const TensorId kept = network.node("Where", {seen, value, network.parameter({1}, 1)});
  network.output(network.node("Where", {seen, network.input("q", {3, 3, 2, 1}), kept}));
  const Graph graph = network.finish();
  for (const std::string& device : saved_devices()) {
    EXPECT_NO_THROW(static_cast<void>(plan_of(graph, 1, saved_device(device)))) << device;
  }
}

/// In a register a half is an f32, of other bits.
TEST(PlanLayouts, BitsAreThoseOfTheStoredType) {
  NetworkBuilder network("bits", 1);
  const TensorId value = network.input("x", {3, 17});
  network.output(network.node("BitCast", {value}, {{"to", std::int64_t{4}}}));
  Graph graph = network.finish();
  graph.opset = 26;
  graph.tensor(value).dtype = DType::f16;
  const Plan plan = plan_of(graph, 3, saved_device("pocl_cpu"));
  ASSERT_EQ(plan.instances.size(), 1U);
  EXPECT_THAT(plan.instances[InstanceId(0)].text, testing::HasSubstr("morton_bits_of_f16"));
}

}  // namespace
}  // namespace morton::test
