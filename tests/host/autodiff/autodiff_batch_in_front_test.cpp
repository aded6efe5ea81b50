// SPDX-License-Identifier: Apache-2.0
//
// Networks whose batch is last, turned so that it is first.
#include <gtest/gtest.h>

#include <string>

#include "autodiff/batch_in_front.hpp"
#include "base/error.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kBatch = 3, kFeatures = 5, kClasses = 4;

/// W x + b of columns x, then `last` where it is named.
Graph columns_network(const std::string& last, std::int64_t axis) {
  NetworkBuilder network("columns", 11);
  TensorId x = network.input("x", {kFeatures, -1});
  x = network.node("MatMul", {network.parameter({kClasses, kFeatures}, kFeatures), x});
  x = network.node("Add", {x, network.parameter({kClasses, 1}, 4)});
  if (last == "Sigmoid") x = network.node(last, {x});
  if (last == "Softmax") x = network.node(last, {x}, {{"axis", axis}});
  network.output(x);
  Graph graph = network.finish();
  graph.tensor(graph.inputs.front()).declared[1].symbol = "batch";
  return graph;
}

Tensor turned(const Tensor& matrix) {
  const Shape& shape = matrix.shape();
  Tensor result = Tensor::allocate(DType::f32, {shape[1], shape[0]});
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      result.set(column * shape[0] + row, matrix.at(row * shape[1] + column));
    }
  }
  return result;
}

void expect_same_answers(const std::string& last) {
  SCOPED_TRACE(last);
  const Graph before = columns_network(last, 0);
  ASSERT_TRUE(has_batch_last(before));
  Graph after = before;
  put_batch_in_front(after);
  EXPECT_FALSE(has_batch_last(after));
  const std::string output = before.tensor(before.outputs.front()).name;
  EXPECT_EQ(after.tensor(after.outputs.front()).name, output);
  const Tensor columns = random_tensor({kFeatures, kBatch}, 5);
  const std::vector<NamedTensor> inputs{{"x", columns}};
  const std::vector<NamedTensor> rows{{"x", turned(columns)}};
  const auto expected = reference_outputs(with_shapes(before, kBatch), inputs);
  const auto got = reference_outputs(with_shapes(after, kBatch), rows);
  ASSERT_EQ(got.at(0).value.size(), static_cast<std::size_t>(kBatch * kClasses));
  for (std::size_t row = 0; row < kBatch; ++row) {
    for (std::size_t c = 0; c < kClasses; ++c) {
      EXPECT_EQ(got[0].value[row * kClasses + c], expected.at(0).value[c * kBatch + row]);
    }
  }
}

TEST(AutodiffBatchInFront, AnswersAreTheSameWithRowsAndColumnsExchanged) {
  for (const char* last : {"", "Sigmoid", "Softmax"}) expect_same_answers(last);
}

TEST(AutodiffBatchInFront, TheLastActivationStaysLast) {
  for (const std::string last : {"Sigmoid", "Softmax"}) {
    Graph graph = columns_network(last, 0);
    put_batch_in_front(graph);
    EXPECT_EQ(graph.nodes.back().op, last);
  }
}

TEST(AutodiffBatchInFront, RefusesASoftmaxAlongTheBatch) {
  Graph graph = columns_network("Softmax", 1);
  EXPECT_THROW(put_batch_in_front(graph), UsageError);
}

TEST(AutodiffBatchInFront, AnExtentOfAnotherNameIsNoBatch) {
  Graph graph = columns_network("", 0);
  graph.tensor(graph.inputs.front()).declared[1].symbol = "time";
  EXPECT_FALSE(has_batch_last(graph));
}

}  // namespace
}  // namespace morton::test
