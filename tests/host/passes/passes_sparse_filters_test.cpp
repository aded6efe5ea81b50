// SPDX-License-Identifier: Apache-2.0
//
// Subsampling as convolution with sparse filters.
#include <gtest/gtest.h>

#include "passes/sparse_filters.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using Integers = std::vector<std::int64_t>;

/// Mean of KH x KW, factors, biases; 3 channels of 9x7.
Graph subsampled(const std::map<std::string, Attribute>& more, const Shape& factors) {
  test::NetworkBuilder network("subsampled", 5);
  const TensorId x = network.input("x", {2, 3, 9, 7});
  std::map<std::string, Attribute> attributes{{"kernel_shape", Integers{2, 3}},
                                              {"strides", Integers{2, 1}}};
  attributes.insert(more.begin(), more.end());
  const TensorId means = network.node("AveragePool", {x}, attributes);
  const TensorId scaled = network.node("Mul", {means, network.parameter(factors, 1)});
  const TensorId sum = network.node("Add", {network.parameter({1, 3, 1, 1}, 1), scaled});
  network.output(network.node("Tanh", {sum}));
  return network.finish();
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

TEST(SparseFilters, ComputeWhatSubsamplingComputes) {
  const Graph before = subsampled({}, {3, 1, 1});
  Graph after = before;
  EXPECT_EQ(spread_subsampling(after), 1);
  verify(after, "spread");
  EXPECT_EQ(operators_of(after), (std::vector<std::string>{"Conv", "Tanh"}));
  const std::vector<NamedTensor> inputs{{"x", test::random_tensor({2, 3, 9, 7}, 11)}};
  const auto expected = test::reference_outputs(test::with_shapes(before, 2), inputs);
  const auto got = test::reference_outputs(test::with_shapes(after, 2), inputs);
  ASSERT_EQ(expected[0].value.size(), got[0].value.size());
  for (std::size_t i = 0; i < expected[0].value.size(); ++i) {
    EXPECT_NEAR(expected[0].value[i], got[0].value[i], 1e-6) << i;
  }
}

TEST(SparseFilters, LeaveOtherPoolsAlone) {
  Graph padded = subsampled({{"pads", Integers{0, 1, 0, 1}}}, {3, 1, 1});
  EXPECT_EQ(spread_subsampling(padded), 0);
  Graph rounded_up = subsampled({{"ceil_mode", std::int64_t{1}}}, {3, 1, 1});
  EXPECT_EQ(spread_subsampling(rounded_up), 0);
  // One factor for all channels is none for each.
  Graph scaled_alike = subsampled({}, {1, 1, 1});
  EXPECT_EQ(spread_subsampling(scaled_alike), 0);
  // One factor for each column is none for each channel.
  Graph by_column = subsampled({}, {1, 1, 5});
  EXPECT_EQ(spread_subsampling(by_column), 0);
  EXPECT_EQ(operators_of(by_column),
            (std::vector<std::string>{"AveragePool", "Mul", "Add", "Tanh"}));
}

}  // namespace
}  // namespace morton::test
