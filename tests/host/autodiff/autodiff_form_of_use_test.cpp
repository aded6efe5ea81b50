// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autodiff/form_of_use.hpp"
#include "autodiff/training_step.hpp"
#include "base/error.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

TensorId add(Graph& graph, const std::string& name, GraphTensor::Kind kind, const Shape& shape) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = kind;
  tensor.shape = shape;
  if (kind == GraphTensor::Kind::input) {
    for (const std::int64_t extent : shape) tensor.declared.push_back({extent, ""});
  }
  if (kind == GraphTensor::Kind::constant) {
    tensor.data = Tensor::allocate(DType::f32, shape);
    for (float& value : tensor.data.as_mutable<float>()) value = 1.0F;
  }
  return graph.add_tensor(std::move(tensor));
}

/// As PyTorch exports a fresh network in training mode: scale, shift and statistics are one
/// initializer, by way of Identity nodes and without.
Graph exported() {
  using Kind = GraphTensor::Kind;
  Graph graph;
  graph.name = "exported";
  graph.opset = 17;
  const TensorId x = add(graph, "x", Kind::input, {4, 2, 3, 3});
  const TensorId ones = add(graph, "ones", Kind::constant, {2});
  const TensorId scale = add(graph, "scale", Kind::activation, {});
  graph.nodes.push_back({.op = "Identity", .name = "same", .inputs = {ones}, .outputs = {scale}});
  const TensorId mean = add(graph, "mean", Kind::activation, {});
  const TensorId variance = add(graph, "variance", Kind::activation, {});
  const TensorId normal = add(graph, "normal", Kind::activation, {});
  graph.nodes.push_back({.op = "BatchNormalization",
                         .name = "norm",
                         .inputs = {x, scale, ones, ones, ones},
                         .outputs = {normal, mean, variance},
                         .attributes = {{"training_mode", std::int64_t{1}}}});
  const TensorId ratio = add(graph, "ratio", Kind::constant, {});
  graph.tensor(ratio).data.set(0, 0.25);
  const TensorId mode = add(graph, "mode", Kind::constant, {});
  const TensorId kept = add(graph, "kept", Kind::activation, {});
  graph.nodes.push_back(
      {.op = "Dropout", .name = "drop", .inputs = {normal, ratio, mode}, .outputs = {kept}});
  const TensorId flat = add(graph, "flat", Kind::activation, {});
  graph.nodes.push_back({.op = "Flatten", .name = "flatten", .inputs = {kept}, .outputs = {flat}});
  graph.inputs = {x};
  graph.outputs = {flat};
  return graph;
}

TEST(FormOfUse, GivesEachParameterItsOwnConstantAndLeavesTrainingMode) {
  const Graph graph = in_form_of_use(exported());
  verify(graph, "in the form of use");
  ASSERT_EQ(graph.nodes.size(), 3U);
  const Node& norm = graph.nodes[0];
  EXPECT_TRUE(norm.attributes.empty());
  EXPECT_EQ(norm.outputs.size(), 1U);
  EXPECT_EQ(graph.nodes[1].inputs.size(), 2U);
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(graph.tensor(norm.inputs[i]).kind, GraphTensor::Kind::constant);
    EXPECT_EQ(graph.tensor(norm.inputs[i]).data.at(1), 1.0);
    for (std::size_t j = 1; j < i; ++j) EXPECT_NE(norm.inputs[i], norm.inputs[j]);
  }
  TrainingStepOptions options;
  options.batch = 4;
  options.loss = Loss::mean_squared_error;
  options.targets = TargetKind::values;
  const TrainingStep step = make_training_step(graph, options);
  EXPECT_EQ(step.trained, (std::vector<std::string>{"ones", "scale"}));
  EXPECT_EQ(step.statistics,
            (std::vector<std::string>{"norm/running_mean", "norm/running_variance"}));
}

/// It is what trains, so it changes nothing when it is made again.
TEST(FormOfUse, IsTheSameOfItself) {
  const Graph once = in_form_of_use(exported());
  EXPECT_EQ(print(in_form_of_use(once)), print(once));
}

/// An untrusted file may hold such nodes, even where no output depends on them.
TEST(FormOfUse, RefusesNodesWithoutTheirInputs) {
  for (const char* op : {"Identity", "BatchNormalization", "Dropout", "Relu"}) {
    Graph graph = exported();
    const TensorId dead = add(graph, "dead", GraphTensor::Kind::activation, {});
    graph.nodes.push_back({.op = op, .name = "empty", .inputs = {}, .outputs = {dead}});
    try {
      (void)in_form_of_use(graph);
      ADD_FAILURE() << op;
    } catch (const ModelError& error) {
      EXPECT_NE(std::string(error.what()).find("'empty': has 0 inputs"), std::string::npos)
          << error.what();
    }
  }
}

TEST(FormOfUse, LeavesAnIdentityWithoutAnOutput) {
  Graph graph = exported();
  graph.nodes.push_back(
      {.op = "Identity", .name = "none", .inputs = {graph.find("ones")}, .outputs = {kNoTensor}});
  EXPECT_EQ(in_form_of_use(graph).nodes.size(), 4U);
}

}  // namespace
}  // namespace morton::test
