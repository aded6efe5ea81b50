// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "ops/core/partial_reference.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/sketch.hpp"

namespace morton::test {
namespace {

/// A network with its inputs known, and the reference of all of its nodes.
struct Known {
  Graph graph;
  KnownValues values;
  std::vector<ReferenceTensor> whole;  ///< of each node
};

Known known_network(const Graph& network, std::int64_t batch) {
  Known known{test::with_shapes(network, batch), {}, {}};
  std::vector<NamedTensor> inputs;
  for (const TensorId id : known.graph.inputs) {
    const GraphTensor& tensor = known.graph.tensor(id);
    inputs.push_back({tensor.name, test::random_tensor(tensor.shape, 9)});
    known.values[id] = inputs.back().tensor;
  }
  known.whole = test::reference_outputs(test::with_all_outputs(known.graph), inputs);
  return known;
}

TEST(PartialReference, FromTheInputsIsTheWholeReference) {
  const Known known = known_network(test::make_small_cnn(2), 2);
  const Graph& graph = known.graph;
  const PartialReference last = partial_reference(graph, graph.outputs[0], known.values, {});
  EXPECT_EQ(last.value.value, known.whole.back().value);
  EXPECT_EQ(last.nodes.size(), graph.nodes.size());
  EXPECT_FALSE(last.channels);
}

TEST(PartialReference, StopsAtWhatIsKnown) {
  Known known = known_network(test::make_small_cnn(2), 1);
  const Graph& graph = known.graph;
  const TensorId before = graph.nodes[graph.nodes.size() - 2].outputs[0];
  known.values[before] = test::random_tensor(graph.tensor(before).shape, 4);
  const PartialReference last = partial_reference(graph, graph.outputs[0], known.values, {});
  EXPECT_EQ(last.nodes.size(), 1U);
  EXPECT_NE(last.value.value, known.whole.back().value);
}

/// A kernel that does both rounds once: a product of halves takes 22 bits.
TEST(PartialReference, WhatIsNotStoredNeedNotBeRounded) {
  const OperatorCase test = parse_case("Mul", "halves | 1:f16 1:f16 | | Add(1:f16)", "test");
  Graph graph = make_graph(test, 3, DataKind::zero_mean);
  KnownValues known;
  for (const TensorId id : graph.inputs) {
    const Tensor value = Tensor::from({1}, std::vector<float>{1.0F + 0x1p-10F});
    known[id] = value.converted(DType::f16);
  }
  const TensorId last = graph.outputs[0];
  const ReferenceTensor sum = partial_reference(graph, last, known, {}).value;
  const double exact = (1.0 + 0x1p-10) * (1.0 + 0x1p-10) + 1.0 + 0x1p-10;
  EXPECT_NE(sum.value[0], exact);
  EXPECT_LE(std::fabs(sum.value[0] - exact), sum.error[0]);
}

/// The chosen channels, as the whole reference has them.
void expect_part(const Known& known, std::size_t node, const SampleOptions& options,
                 std::int64_t channels) {
  const TensorId target = known.graph.nodes[node].outputs[0];
  const PartialReference part = partial_reference(known.graph, target, known.values, options);
  ASSERT_TRUE(part.channels);
  EXPECT_EQ(static_cast<std::int64_t>(part.channels->indices.size()), channels);
  const ReferenceTensor& whole = known.whole[node];
  Tensor values = Tensor::allocate(DType::f64, whole.shape);
  for (std::size_t i = 0; i < whole.value.size(); ++i) {
    values.set(static_cast<std::int64_t>(i), whole.value[i]);
  }
  const Tensor expected = take(values, *part.channels);
  ASSERT_EQ(part.value.shape, expected.shape());
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(part.value.value[static_cast<std::size_t>(i)], expected.at(i)) << i;
  }
}

TEST(PartialReference, SomeChannelsOfAConvAndWhatFollows) {
  const Known known = known_network(test::make_small_cnn(2), 2);
  ASSERT_EQ(known.graph.nodes[0].op, "Conv");
  ASSERT_EQ(known.graph.nodes[1].op, "Relu");
  const Shape result = known.graph.tensor(known.graph.nodes[0].outputs[0]).shape;
  const std::int64_t each = 2 * 3 * 3 * 3 * result[2] * result[3];
  expect_part(known, 0, {.most_multiplications = 5 * each}, 5);
  expect_part(known, 1, {.most_multiplications = 3 * each, .seed = 4}, 3);
  expect_part(known, 1, {.most_multiplications = 1}, 1);
}

TEST(PartialReference, SomeColumnsOfAProductWithBiases) {
  const Known known = known_network(test::make_mlp(1), 3);
  expect_part(known, 1, {.most_multiplications = 3 * 784 * 7}, 7);
}

TEST(PartialReference, AllOfWhatMixesChannels) {
  const Known known = known_network(test::make_small_cnn(2), 1);
  const TensorId target = known.graph.nodes[3].outputs[0];
  const PartialReference grouped =
      partial_reference(known.graph, target, known.values, {.most_multiplications = 1});
  EXPECT_FALSE(grouped.channels);
}

TEST(PartialReference, SaysWhichInputIsMissing) {
  const Graph graph = test::with_shapes(test::make_mlp(1), 1);
  EXPECT_THROW((void)partial_reference(graph, graph.outputs[0], {}, {}), UsageError);
}

/// Doubles hold whole numbers up to 2^53. What a device makes of larger ones lies within the bound.
TEST(Reference, BoundsWholeNumbersThatNoDoubleHolds) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> numbers{kLargest, 5};
  const std::vector<std::int64_t> axes{0};
  Graph graph = Sketch()
                    .input("x", {2}, DType::i64)
                    .whole("zero", 0)
                    .constant("axes", Tensor::from({1}, axes))
                    .node("ReduceMax", {"x", "axes"}, {"most"})
                    .node("ReduceProd", {"x", "axes"}, {"product"})
                    .node("CumSum", {"x", "zero"}, {"sums"})
                    .node("CumProd", {"x", "zero"}, {"products"})
                    .graph({"most", "product", "sums", "products"});
  graph.opset = 26;
  const std::vector<NamedTensor> inputs{{"x", Tensor::from({2}, numbers)}};
  const auto outputs = reference_outputs(with_shapes(graph, 0), inputs);
  // 5 (2^63 - 1) is 2^63 - 5 modulo 2^64; 2^63 + 4 is that - 2^64.
  const std::vector<std::vector<double>> right{
      {0x1p63}, {0x1p63}, {0x1p63, -0x1p63}, {0x1p63, 0x1p63}};
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (std::size_t e = 0; e < right[i].size(); ++e) {
      EXPECT_LE(std::fabs(right[i][e] - outputs[i].value[e]), outputs[i].error[e])
          << "output " << i << ", element " << e;
    }
  }
}

}  // namespace
}  // namespace morton::test
