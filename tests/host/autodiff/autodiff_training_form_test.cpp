// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "autodiff/training_form.hpp"
#include "base/error.hpp"
#include "ops/core/graph_writer.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kRows = 3, kChannels = 2, kPixels = 4;

GraphTensor input_of(const Shape& shape) {
  GraphTensor tensor;
  tensor.name = "x";
  tensor.kind = GraphTensor::Kind::input;
  tensor.shape = shape;
  return tensor;
}

GraphTensor constant_of(const std::string& name, const std::vector<float>& values) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::constant;
  tensor.data = Tensor::from({static_cast<std::int64_t>(values.size())}, values);
  tensor.shape = tensor.data.shape();
  return tensor;
}

struct Normalization {
  Graph graph;
  TensorId scale = kNoTensor;

  Normalization() {
    const TensorId x = graph.add_tensor(input_of({kRows, kChannels, kPixels, 1}));
    graph.inputs = {x};
    scale = graph.add_tensor(constant_of("scale", {2.0F, -0.5F}));
    const TensorId shift = graph.add_tensor(constant_of("shift", {0.25F, 1.0F}));
    const TensorId mean = graph.add_tensor(constant_of("mean", {10.0F, 20.0F}));
    const TensorId variance = graph.add_tensor(constant_of("variance", {3.0F, 4.0F}));
    GraphWriter writer(graph, "norm");
    graph.outputs = {writer.add("BatchNormalization", {x, scale, shift, mean, variance},
                                {{"momentum", 0.75}, {"epsilon", 0.125}})};
  }
};

/// The values of the graph's outputs, and then of its updates, states holding what they start with.
std::vector<ReferenceTensor> results_of(Graph graph, const std::vector<NamedTensor>& inputs) {
  for (const StateUpdate& update : graph.updates) graph.outputs.push_back(update.value);
  graph.updates.clear();
  for (GraphTensor& tensor : graph.tensors) {
    if (tensor.kind == GraphTensor::Kind::state) tensor.kind = GraphTensor::Kind::constant;
  }
  return test::reference_outputs(graph, inputs);
}

TEST(TrainingForm, NormalizesByTheBatchsOwnStatistics) {
  Normalization made;
  to_training_form(made.graph, [&](TensorId id) { return id == made.scale; });
  const Tensor x = test::random_tensor({kRows, kChannels, kPixels, 1}, 5);
  const auto values = results_of(made.graph, {{"x", x}});
  ASSERT_EQ(values.size(), 3U);
  const double scale[] = {2.0, -0.5}, shift[] = {0.25, 1.0};
  const double means[] = {10.0, 20.0}, variances[] = {3.0, 4.0};
  for (std::int64_t c = 0; c < kChannels; ++c) {
    const auto at = [&](std::int64_t row, std::int64_t pixel) {
      return (row * kChannels + c) * kPixels + pixel;
    };
    double sum = 0.0, squares = 0.0;
    for (std::int64_t r = 0; r < kRows; ++r) {
      for (std::int64_t p = 0; p < kPixels; ++p) sum += x.at(at(r, p));
    }
    const double mean = sum / (kRows * kPixels);
    for (std::int64_t r = 0; r < kRows; ++r) {
      for (std::int64_t p = 0; p < kPixels; ++p) squares += std::pow(x.at(at(r, p)) - mean, 2);
    }
    const double variance = squares / (kRows * kPixels);
    for (std::int64_t r = 0; r < kRows; ++r) {
      for (std::int64_t p = 0; p < kPixels; ++p) {
        const double expected =
            (x.at(at(r, p)) - mean) / std::sqrt(variance + 0.125) * scale[c] + shift[c];
        EXPECT_NEAR(values[0].value[static_cast<std::size_t>(at(r, p))], expected, 1e-6);
      }
    }
    const auto channel = static_cast<std::size_t>(c);
    EXPECT_NEAR(values[1].value[channel], 0.75 * means[c] + 0.25 * mean, 1e-6);
    EXPECT_NEAR(values[2].value[channel], 0.75 * variances[c] + 0.25 * variance, 1e-6);
  }
}

TEST(TrainingForm, LeavesAFrozenNormalizationAsItIs) {
  Normalization made;
  to_training_form(made.graph, [](TensorId) { return false; });
  ASSERT_EQ(made.graph.nodes.size(), 1U);
  EXPECT_EQ(made.graph.nodes[0].op, "BatchNormalization");
  EXPECT_TRUE(made.graph.updates.empty());
}

Tensor scalar_of(float value) {
  Tensor tensor = Tensor::allocate(DType::f32, {});
  tensor.as_mutable<float>()[0] = value;
  return tensor;
}

/// Dropout of ones with a constant ratio; its mask is what is not 0.
Graph dropout_graph(const Shape& shape, float ratio) {
  Graph graph;
  graph.opset = 13;
  const TensorId x = graph.add_tensor(input_of(shape));
  graph.inputs = {x};
  GraphWriter writer(graph, "first");
  const TensorId share = writer.constant(scalar_of(ratio));
  graph.outputs = {writer.add("Dropout", {x, share}), writer.add("Dropout", {x, share})};
  to_training_form(graph, [](TensorId) { return true; });
  return graph;
}

std::vector<double> dropped(const Graph& graph, std::uint32_t key, std::size_t output = 0) {
  Tensor ones = Tensor::allocate(DType::f32, graph.tensor(graph.inputs[0]).shape);
  for (float& value : ones.as_mutable<float>()) value = 1.0F;
  Tensor number = Tensor::allocate(DType::u32, {});
  number.as_mutable<std::uint32_t>()[0] = key;
  return test::reference_outputs(
             graph, std::vector<NamedTensor>{{"x", ones}, {kDropoutInput, number}})[output]
      .value;
}

TEST(TrainingForm, DropsTheShareThatIsAskedForAndScalesTheRest) {
  constexpr double kRatio = 0.3;
  const Graph graph = dropout_graph({40, 250}, static_cast<float>(kRatio));
  const std::vector<double> values = dropped(graph, 12345);
  double zeros = 0.0;
  for (const double value : values) {
    if (value == 0.0) {
      zeros += 1.0;
    } else {
      EXPECT_NEAR(value, 1.0 / (1.0 - kRatio), 1e-6);
    }
  }
  // Six deviations of a binomial distribution.
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(zeros / count, kRatio, 6.0 * std::sqrt(kRatio * (1.0 - kRatio) / count));
}

TEST(TrainingForm, MasksDifferByStepAndLayerAndAreTheSameAgain) {
  const Graph graph = dropout_graph({40, 250}, 0.5F);
  const auto differ = [](const std::vector<double>& a, const std::vector<double>& b) {
    double count = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0.0 : 1.0;
    return count / static_cast<double>(a.size());
  };
  EXPECT_EQ(differ(dropped(graph, 7), dropped(graph, 7)), 0.0);
  EXPECT_NEAR(differ(dropped(graph, 7), dropped(graph, 8)), 0.5, 0.03);
  EXPECT_NEAR(differ(dropped(graph, 7), dropped(graph, 7, 1)), 0.5, 0.03);
}

TEST(TrainingForm, ARatioOutOfRangeIsRefused) {
  for (const float ratio : {-0.5F, 1.0F, 1.5F}) {
    EXPECT_THROW(dropout_graph({2, 3}, ratio), ModelError) << ratio;
  }
}

TEST(TrainingForm, AStatisticOfTwoNodesIsRefused) {
  Normalization made;
  Node second = made.graph.nodes[0];
  second.name = "second";
  second.inputs[0] = made.graph.outputs[0];
  GraphTensor result = made.graph.tensor(second.outputs[0]);
  result.name = "twice";
  second.outputs = {made.graph.add_tensor(std::move(result))};
  made.graph.outputs = second.outputs;
  made.graph.nodes.push_back(second);
  EXPECT_THROW(to_training_form(made.graph, [](TensorId) { return true; }), UnsupportedError);
}

TEST(TrainingForm, ARatioThatIsComputedIsRefused) {
  Graph graph;
  graph.opset = 13;
  const TensorId x = graph.add_tensor(input_of({2, 3}));
  GraphTensor ratio = input_of({});
  ratio.name = "ratio";
  const TensorId share = graph.add_tensor(std::move(ratio));
  graph.inputs = {x, share};
  GraphWriter writer(graph, "first");
  graph.outputs = {writer.add("Dropout", {x, share})};
  EXPECT_THROW(to_training_form(graph, [](TensorId) { return true; }), UnsupportedError);
}

}  // namespace
}  // namespace morton::test
