// SPDX-License-Identifier: Apache-2.0
//
// Comparing layer by layer finds the layer that is wrong, and only that.
#include <gmock/gmock.h>

#include "model/model_check.hpp"
#include "morton/compare.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class ModelCompare : public ModelTest {
 protected:
  /// x -> Gemm -> Relu -> Gemm -> Tanh.
  static Graph two_layers() {
    NetworkBuilder network("two", 3);
    const TensorId x = network.input("x", {-1, 17});
    const TensorId first = network.relu(network.dense(x, 17, 33));
    network.output(network.node("Tanh", {network.dense(first, 33, 9)}));
    return network.finish();
  }
  [[nodiscard]] CompiledModel compiled(const Graph& graph) const {
    CompileOptions options;
    options.batch = 3;
    return compile(to_model(graph), device(), options);
  }
};
MORTON_MODELS_ON_EVERY_DEVICE(ModelCompare);

TEST_P(ModelCompare, EveryLayerOfARightModel) {
  const Graph graph = make_residual_network(3);
  const auto inputs = random_inputs(graph, 3, 40);
  const LayerReport report = compare_layers(compiled(graph), inputs);
  // Six convolutions and the product, each with what is fused behind it.
  EXPECT_EQ(report.layers.size(), 7U);
  for (const LayerComparison& layer : report.layers) {
    EXPECT_EQ(layer.wrong, 0) << layer.first_wrong;
    EXPECT_EQ(layer.checked, layer.elements);
    EXPECT_FALSE(layer.kernels.empty());
    EXPECT_GT(layer.deviation, 0.0);
  }
}

TEST_P(ModelCompare, AJoinedTensorThatIsOverwritten) {
  NetworkBuilder network("joined", 3);
  const TensorId x = network.input("x", {-1, 8, 16, 16});
  const TensorId whole =
      network.node("Concat", {network.relu(x), network.node("Sigmoid", {x})}, {{"axis", 1}});
  network.output(network.node("MaxPool", {network.node("Tanh", {whole})},
                              {{"kernel_shape", std::vector<std::int64_t>{2, 2}}}));
  const Graph graph = network.finish();
  const auto inputs = random_inputs(graph, 1, 40);
  const LayerReport report = compare_layers(compile(to_model(graph), device()), inputs);
  EXPECT_EQ(report.layers.size(), 5U);
  for (const LayerComparison& layer : report.layers) {
    EXPECT_EQ(layer.wrong, 0) << layer.name << ": " << layer.first_wrong;
    EXPECT_EQ(layer.finite, layer.elements);
  }
}

TEST_P(ModelCompare, SomeChannelsOfALargeLayer) {
  const Graph graph = two_layers();
  const LayerReport report = compare_layers(compiled(graph), random_inputs(graph, 3, 40),
                                            {.most_multiplications = 3 * 17 * 5});
  ASSERT_EQ(report.layers.size(), 2U);
  EXPECT_EQ(report.layers[0].checked, 3 * 5);
  EXPECT_EQ(report.layers[1].checked, 3 * 2);
  for (const LayerComparison& layer : report.layers) EXPECT_EQ(layer.wrong, 0);
}

TEST_P(ModelCompare, AFileThatDiffersInOneLayer) {
  const Graph graph = two_layers();
  const auto inputs = random_inputs(graph, 3, 40);
  const CompiledModel model = compiled(graph);
  Session session(model);
  std::vector<NamedTensor> expected = session.run(inputs);
  EXPECT_EQ(compare_with(model, inputs, expected).layers.at(0).wrong, 0);
  expected[0].tensor = expected[0].tensor.clone();
  expected[0].tensor.set(5, expected[0].tensor.at(5) + 0.1);
  const LayerReport report = compare_with(model, inputs, expected);
  ASSERT_EQ(report.layers.size(), 1U);
  EXPECT_EQ(report.layers[0].wrong, 1);
  EXPECT_THAT(report.layers[0].first_wrong, HasSubstr("element 5: "));
}

TEST_P(ModelCompare, NamesWhatAFileHasAndThePlanKeepsNot) {
  const Graph graph = two_layers();
  const auto inputs = random_inputs(graph, 3, 40);
  const std::string inner = graph.tensor(graph.nodes[0].outputs[0]).name;
  const std::vector<NamedTensor> expected{{inner, random_tensor({3, 33}, 1)}};
  const LayerReport report = compare_with(compiled(graph), inputs, expected);
  EXPECT_TRUE(report.layers.empty());
  EXPECT_THAT(report.not_kept, Contains(inner));
  const std::vector<NamedTensor> unknown{{"nothing", random_tensor({3}, 1)}};
  EXPECT_THROW((void)compare_with(compiled(graph), inputs, unknown), UsageError);
}

}  // namespace
}  // namespace morton::test
