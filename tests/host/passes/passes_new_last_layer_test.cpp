// SPDX-License-Identifier: Apache-2.0
//
// A network that gets another number of classes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "graph/architectures.hpp"
#include "passes/new_last_layer.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// Constants, by name, of a graph.
std::map<std::string, Tensor> constants_of(const Graph& graph) {
  std::map<std::string, Tensor> constants;
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.kind == GraphTensor::Kind::constant) constants.emplace(tensor.name, tensor.data);
  }
  return constants;
}

/// Names of constants that are not what they were, with their shapes now.
std::map<std::string, Shape> changed(const Graph& before, const Graph& after) {
  const auto old = constants_of(before);
  std::map<std::string, Shape> names;
  for (const auto& [name, now] : constants_of(after)) {
    const auto was = old.find(name);
    if (was == old.end() || was->second.data() != now.data()) names.emplace(name, now.shape());
  }
  return names;
}

std::string refusal(Graph graph, std::int64_t classes = 3) {
  try {
    make_new_last_layer(graph, classes, 1);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// Dense and convolved heads, a Softmax, means and a Flatten behind; nothing else changes.
TEST(PassesNewLastLayer, EveryPublishedNetworkCanHaveOne) {
  for (const char* name :
       {"resnet18", "mobilenet_v2", "squeezenet1_1", "shufflenet_v2", "lenet5", "c18-cnn"}) {
    SCOPED_TRACE(name);
    Graph before = build(find_architecture(name), 1);
    for (graph::Dimension& extent : before.tensor(before.inputs.front()).declared) {
      if (extent.symbol == "height" || extent.symbol == "width") extent = {64, ""};
    }
    Graph after = before;
    make_new_last_layer(after, 3, 7);
    const auto names = changed(before, after);
    ASSERT_LE(names.size(), 2U);
    ASSERT_GE(names.size(), 1U);
    for (const auto& [constant, shape] : names) {
      EXPECT_NE(std::ranges::find(shape, 3), shape.end()) << constant << ' ' << to_string(shape);
    }
    const Graph planned = with_shapes(after, 2);
    EXPECT_EQ(planned.tensor(planned.outputs.front()).shape, (Shape{2, 3}));
  }
}

TEST(PassesNewLastLayer, WeightsFollowFromTheSeedAndBiasesBeginAtZero) {
  NetworkBuilder network("dense", 1);
  network.output(network.node("Softmax", {network.dense(network.input("x", {-1, 64}), 64, 10)}));
  const Graph before = network.finish();
  const auto weights = [&](std::uint64_t seed) {
    Graph graph = before;
    make_new_last_layer(graph, 4, seed);
    std::vector<float> values;
    for (const auto& [name, shape] : changed(before, graph)) {
      const Tensor& now = graph.tensor(graph.find(name)).data;
      const auto numbers = now.as<float>();
      if (shape.size() == 1) {
        EXPECT_TRUE(std::ranges::all_of(numbers, [](float value) { return value == 0.0F; }));
      } else {
        EXPECT_EQ(shape, (Shape{4, 64}));
        values.assign(numbers.begin(), numbers.end());
      }
    }
    return values;
  };
  EXPECT_EQ(weights(5), weights(5));
  EXPECT_NE(weights(5), weights(6));
  double squares = 0.0;
  for (const float value : weights(5)) squares += double{value} * value;
  EXPECT_NEAR(squares / 256.0, 1.0 / 64.0, 0.3 / 64.0);
}

/// A constant that two nodes read changes for the last layer alone; a Reshape's extents follow.
TEST(PassesNewLastLayer, SharedConstantsStayForTheOthers) {
  NetworkBuilder network("shared", 1);
  const TensorId square = network.parameter({10, 10}, 10);
  const TensorId bias = network.parameter({10}, 1);
  const TensorId first = network.node("MatMul", {network.input("x", {-1, 10}), square});
  const TensorId last = network.node("MatMul", {network.node("Add", {first, bias}), square});
  const TensorId sum = network.node("Add", {bias, last});
  network.output(network.node("Reshape", {sum, network.list({-1, 10})}));
  const Graph before = network.finish();
  Graph after = before;
  make_new_last_layer(after, 6, 1);
  EXPECT_EQ(after.tensors.size(), before.tensors.size() + 2);
  EXPECT_EQ(after.tensor(square).data.data(), before.tensor(square).data.data());
  const Graph planned = with_shapes(after, 2);
  EXPECT_EQ(planned.tensor(planned.outputs.front()).shape, (Shape{2, 6}));
}

/// Of one class an extent of 1 can be any: its place tells.
TEST(PassesNewLastLayer, BiasesOfOneClassGrowWhereClassesAre) {
  NetworkBuilder dense("dense", 1);
  const TensorId product =
      dense.node("MatMul", {dense.input("x", {-1, 6}), dense.parameter({6, 1}, 6)});
  const TensorId bias = dense.parameter({1, 1}, 1);
  dense.output(dense.node("Add", {product, bias}));
  Graph graph = dense.finish();
  make_new_last_layer(graph, 3, 1);
  EXPECT_EQ(graph.tensor(bias).data.shape(), (Shape{1, 3}));
  NetworkBuilder image("image", 1);
  const TensorId convolved =
      image.node("Conv", {image.input("x", {-1, 2, 5, 5}), image.parameter({1, 2, 3, 3}, 18)});
  const TensorId channel = image.parameter({1, 1, 1, 1}, 1);
  image.output(image.node("Add", {convolved, channel}));
  Graph of_image = image.finish();
  make_new_last_layer(of_image, 3, 1);
  EXPECT_EQ(of_image.tensor(channel).data.shape(), (Shape{1, 3, 1, 1}));
  const Graph planned = with_shapes(of_image, 2);
  EXPECT_EQ(planned.tensor(planned.outputs.front()).shape, (Shape{2, 3, 3, 3}));
}

TEST(PassesNewLastLayer, SaysWhatStandsInTheWay) {
  using ::testing::HasSubstr;
  NetworkBuilder two("two", 1);
  const TensorId x = two.input("x", {-1, 8});
  two.output(two.dense(x, 8, 4));
  two.output(two.relu(x));
  EXPECT_THAT(refusal(two.finish()), HasSubstr("the model has 2 outputs"));
  NetworkBuilder maximum("maximum", 1);
  maximum.output(maximum.node("Tanh", {maximum.dense(maximum.input("x", {-1, 8}), 8, 4)}));
  EXPECT_THAT(refusal(maximum.finish()),
              HasSubstr("(Tanh) stands between the output and the last layer"));
  NetworkBuilder computed("computed", 1);
  const TensorId a = computed.input("a", {4, 4});
  computed.output(computed.node("MatMul", {a, a}));
  EXPECT_THAT(refusal(computed.finish()), HasSubstr("takes its input 1 from other nodes"));
  NetworkBuilder none("none", 1);
  none.output(none.relu(none.input("x", {-1, 8})));
  EXPECT_THAT(refusal(none.finish()), HasSubstr("comes from no layer"));
  NetworkBuilder flat("flat", 1);
  const TensorId filters = flat.conv(flat.input("x", {-1, 2, 3, 3}), 2, 2, {.size = 2});
  flat.output(flat.node("Flatten", {filters}));
  Graph joined = flat.finish();
  joined.tensor(joined.outputs.front()).declared = {{0, "batch"}, {8, ""}};
  EXPECT_THAT(refusal(joined), HasSubstr("has no extent of the last layer's 2 classes"));
  NetworkBuilder square("square", 1);
  const TensorId rows = square.dense(square.input("x", {-1, 8}), 8, 4);
  square.output(square.node("Reshape", {rows, square.list({-1, 4, 4})}));
  EXPECT_THAT(refusal(square.finish()), HasSubstr("has several extents of 4"));
  NetworkBuilder dense("dense", 1);
  dense.output(dense.dense(dense.input("x", {-1, 8}), 8, 4));
  EXPECT_THAT(refusal(dense.finish(), 0), HasSubstr("expected a number from 1 on, got 0"));
}

}  // namespace
}  // namespace morton::test
