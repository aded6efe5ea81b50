// SPDX-License-Identifier: Apache-2.0
//
// A batch that is not the first extent: where the proof finds its rows, what it refuses, and the
// transfers of rows that are no one stretch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/ir/print.hpp"
#include "plan/ir/verify.hpp"
#include "plan/tasks/batch_rows.hpp"
#include "plans/split_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kItems = 5;

/// Where the outputs have rows, given where the inputs do; batch of kItems.
std::vector<std::size_t> rows_of_outputs(const NetworkBuilder& network,
                                         const std::vector<RowDimension>& inputs) {
  return require_independent_rows(make_tasks(prepared(network.finish(), kItems)), inputs, kItems);
}

TEST(RowDimensionOf, HasTheBatchAndItsDistance) {
  EXPECT_EQ(row_dimension({5, 7}, 5, 7), RowDimension(0));
  EXPECT_EQ(row_dimension({7, 5}, 5, 1), RowDimension(1));
  EXPECT_EQ(row_dimension({5, 5}, 5, 1), RowDimension(1));
  EXPECT_EQ(row_dimension({5, 5}, 5, 5), RowDimension(0));
  EXPECT_EQ(row_dimension({3, 5, 1, 2}, 5, 2), RowDimension(1));
  EXPECT_EQ(row_dimension({7, 5}, 5, 7), std::nullopt);
  EXPECT_EQ(row_dimension({35}, 5, 7), std::nullopt);
  EXPECT_EQ(row_dimension({}, 5, 1), std::nullopt);
}

/// R17's form: y = activation(W x + b) with an item in each column; `features` in and out.
NetworkBuilder columns(std::int64_t features) {
  NetworkBuilder network("columns", 1);
  const TensorId x = network.input("x", {features, -1});
  const TensorId weights = network.parameter({features, features}, features);
  const TensorId product = network.node("MatMul", {weights, x});
  const TensorId sum = network.node("Add", {product, network.parameter({features, 1}, 1)});
  const TensorId hidden = network.node("Sigmoid", {sum});
  network.output(network.node("Softmax", {hidden}, {{"axis", std::int64_t{0}}}));
  return network;
}

TEST(BatchRows, MayBeTheFirstExtent) {
  NetworkBuilder network("rows", 1);
  network.output(network.relu(network.dense(network.input("x", {-1, 7}), 7, 3)));
  EXPECT_THAT(rows_of_outputs(network, {RowDimension(0)}), ElementsAre(0));
}

TEST(BatchRows, MayBeTheLastExtent) {
  EXPECT_THAT(rows_of_outputs(columns(17), {RowDimension(1)}), ElementsAre(1));
}

TEST(BatchRows, AreNotTakenForFeaturesOfTheSameNumber) {
  EXPECT_THAT(rows_of_outputs(columns(kItems), {RowDimension(1)}), ElementsAre(1));
}

TEST(BatchRows, MayBeAnotherExtentInEachTensor) {
  NetworkBuilder network("turned", 1);
  const TensorId x = network.input("x", {7, -1});
  const TensorId turned =
      network.node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  network.output(network.dense(turned, 7, 3));
  network.output(network.relu(x));
  network.output(network.node("Reshape", {network.relu(x), network.list({1, 7, -1})}));
  EXPECT_THAT(rows_of_outputs(network, {RowDimension(1)}), ElementsAre(0, 1, 2));
}

TEST(BatchRows, OfTwoInputsMustMeet) {
  NetworkBuilder network("met", 1);
  const TensorId a = network.input("a", {kItems, -1});
  const TensorId b = network.input("b", {kItems, -1});
  network.output(network.node("Add", {a, b}));
  EXPECT_THAT(rows_of_outputs(network, {RowDimension(1), RowDimension(1)}), ElementsAre(1));
  EXPECT_THROW((void)rows_of_outputs(network, {RowDimension(1), RowDimension(0)}),
               UnsupportedError);
  EXPECT_THROW((void)rows_of_outputs(network, {RowDimension(1), std::nullopt}), UnsupportedError);
}

TEST(BatchRows, AreNotPairedWithEachOther) {
  NetworkBuilder network("pairs", 1);
  const TensorId x = network.input("x", {-1, 7});
  const TensorId turned =
      network.node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  network.output(network.node("MatMul", {x, turned}));
  EXPECT_THROW((void)rows_of_outputs(network, {RowDimension(0)}), UnsupportedError);
}

TEST(SplitColumns, RefusesASoftmaxAlongTheBatch) {
  NetworkBuilder network("along", 1);
  const TensorId x = network.input("x", {7, -1});
  network.output(network.node("Softmax", {x}, {{"axis", std::int64_t{1}}}));
  EXPECT_THAT(refusal(network.finish()), HasSubstr("computes along its rows"));
}

TEST(SplitColumns, RefusesAProductOverTheBatch) {
  NetworkBuilder network("gram", 1);
  const TensorId x = network.input("x", {7, -1});
  network.output(network.node("Gemm", {x, network.relu(x)}, {{"transB", std::int64_t{1}}}));
  EXPECT_THAT(refusal(network.finish()), HasSubstr("joins the rows of 'x'"));
}

TEST(SplitColumns, RefusesAProductOverTheBatchThatLooksSquare) {
  NetworkBuilder network("square", 1);
  const TensorId x = network.input("x", {kItems, -1});
  network.output(network.node("Gemm", {x, network.relu(x)}, {{"transB", std::int64_t{1}}}));
  EXPECT_THAT(refusal(network.finish()), HasSubstr("so the batch cannot be cut"));
}

TEST(SplitColumns, RefusesAReshapeThatJoinsTheBatch) {
  NetworkBuilder network("joined", 1);
  const TensorId x = network.input("x", {6, -1});
  network.output(network.node("Reshape", {network.relu(x), network.list({-1, 3})}));
  EXPECT_THAT(refusal(network.finish()), HasSubstr("joins the batch"));
}

TEST(SplitColumns, RefusesABatchInTwoExtents) {
  NetworkBuilder network("twice", 1);
  network.output(network.relu(network.input("x", {-1, -1})));
  EXPECT_THAT(refusal(network.finish()), HasSubstr("in more than one extent"));
}

TEST(SplitColumns, MovesAStretchOfEachFeature) {
  const Plan plan = split_over(columns(17).finish(), {3, 2}, mali_pair());
  std::vector<const Transfer*> transfers;
  for (const Step& step : plan.steps) {
    if (step.transfer() != nullptr) transfers.push_back(step.transfer());
  }
  ASSERT_EQ(transfers.size(), 4U) << "the first device works on a copy of its columns";
  const Transfer& to_second = *transfers[1];
  EXPECT_EQ(to_second.stretches, 17);
  EXPECT_EQ(to_second.bytes, 2 * 4);
  EXPECT_EQ(to_second.from_offset_bytes, 3 * 4);
  EXPECT_EQ(to_second.from_pitch_bytes, kItems * 4);
  EXPECT_EQ(to_second.to_pitch_bytes, 2 * 4);
  const Transfer& from_second = *transfers[3];
  EXPECT_EQ(from_second.stretches, 17);
  EXPECT_EQ(from_second.to_offset_bytes, 3 * 4);
  EXPECT_EQ(from_second.to_pitch_bytes, kItems * 4);
  EXPECT_THAT(print(plan, PlanDetail::brief), HasSubstr("17 stretches of 8 bytes"));
  Plan overlapping = plan;
  std::get<Transfer>(overlapping.steps.front().action).from_pitch_bytes = 4;
  EXPECT_THROW(verify(overlapping, Devices(mali_pair())), InternalError);
}

TEST(SplitColumns, OneFeatureIsOneStretch) {
  NetworkBuilder network("line", 1);
  network.output(network.relu(network.input("x", {1, -1})));
  const Plan plan = split_over(network.finish(), {3, 2}, mali_pair());
  EXPECT_EQ(std::ranges::count_if(plan.steps,
                                  [](const Step& step) { return step.transfer() != nullptr; }),
            2)
      << "the first device works in place";
}

}  // namespace
}  // namespace morton::test
