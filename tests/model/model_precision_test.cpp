// SPDX-License-Identifier: Apache-2.0
//
// Networks whose tensors lie in memory as halves: half the bytes, each layer right for what it
// reads, and the outputs near those of f32.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "api/compile/compiled_state.hpp"
#include "api/inside.hpp"
#include "model/model_check.hpp"
#include "morton/architectures.hpp"
#include "morton/compare.hpp"
#include "ops/core/graph_writer.hpp"
#include "run/loaded_plan.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

CompileOptions stored_as(DType type) {
  CompileOptions options;
  options.precision.operands = type;
  options.self_test = CompileOptions::SelfTest::off;
  return options;
}

std::int64_t weights_of(const CompiledModel& model) {
  return block_bytes(Inside::of(model)->loaded->plan(), PlannedBlock::Kind::weights);
}

double deviation(const Tensor& tensor) {
  double sum = 0.0;
  double squares = 0.0;
  const auto count = static_cast<double>(tensor.size());
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    sum += tensor.at(i);
    squares += tensor.at(i) * tensor.at(i);
  }
  return std::sqrt(squares / count - sum / count * (sum / count));
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0.0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::fabs(a.at(i) - b.at(i)));
  }
  return largest;
}

class ModelPrecision : public ModelTest {
 protected:
  void expect_near(const Model& model, const std::vector<NamedTensor>& inputs,
                   CompileOptions options, double share) const {
    const CompiledModel rounded = compile(model, device(), options);
    const LayerReport report = compare_layers(rounded, inputs);
    EXPECT_FALSE(report.layers.empty());
    for (const LayerComparison& layer : report.layers) {
      EXPECT_EQ(layer.wrong, 0) << layer.name << ": " << layer.first_wrong;
      EXPECT_GT(layer.finite, 0) << layer.name;
    }
    options.precision.operands = DType::f32;
    const CompiledModel exact = compile(model, device(), options);
    const Tensor right = Session(exact).run(inputs).front().tensor;
    const Tensor got = Session(rounded).run(inputs).front().tensor;
    EXPECT_LE(largest_difference(right, got), share * deviation(right));
    EXPECT_GT(largest_difference(right, got), 0.0) << "nothing was rounded";
  }
};
MORTON_MODELS_ON_EVERY_DEVICE(ModelPrecision);

TEST_P(ModelPrecision, LayersAreRightForWhatTheyRead) {
  for (const auto& [type, share] : {std::pair{DType::f16, 0.01}, std::pair{DType::bf16, 0.08}}) {
    SCOPED_TRACE(name_of(type));
    for (const Graph& graph : {make_mlp(5), make_small_cnn(5), make_residual_network(5)}) {
      SCOPED_TRACE(graph.name);
      CompileOptions options = stored_as(type);
      options.batch = 2;
      expect_near(to_model(graph), random_inputs(graph, 2, 40), options, share);
    }
  }
}

TEST_P(ModelPrecision, NewNetworks) {
  for (const char* name : {"mobilenet_v2", "lstm_rows", "squeezenet1_1"}) {
    if (name == std::string("squeezenet1_1") && !is_long_run()) continue;
    SCOPED_TRACE(name);
    const Model model = new_model(name, 1);
    CompileOptions options = stored_as(DType::f16);
    options.batch = 1;
    const PortInfo port = model.inputs().front();
    Shape shape = port.shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!port.symbols[d].empty()) shape[d] = port.symbols[d] == "batch" ? 1 : 33;
    }
    options.shapes[port.name] = shape;
    expect_near(model, {{port.name, random_tensor(shape, 60)}}, options, 0.02);
  }
}

TEST_P(ModelPrecision, LeNetTakesHalfTheBytes) {
  CompileOptions options = stored_as(DType::f16);
  const CompiledModel exact = compile(lenet(), device(), {});
  const CompiledModel rounded = compile(lenet(), device(), options);
  if (Inside::of(device())->info().kind == DeviceInfo::Kind::cpu) {
    EXPECT_LE(2 * weights_of(rounded), weights_of(exact) + 4096);
  }
  std::vector<NamedTensor> inputs{{"input", random_tensor({1, 1, 32, 32}, 3)}};
  inputs.front().name = exact.inputs().front().name;
  expect_near(lenet(), inputs, options, 0.01);
}

/// Scores with f32's least number where `keep` is false, and their softmax.
Graph masked_scores(const Shape& shape) {
  Graph graph;
  graph.name = "masked";
  constexpr auto kInput = GraphTensor::Kind::input;
  const std::vector<Dimension> declared{{shape[0], ""}, {shape[1], ""}};
  const TensorId x =
      graph.add_tensor({.name = "x", .kind = kInput, .declared = declared, .shape = shape});
  const TensorId keep = graph.add_tensor({.name = "keep",
                                          .dtype = DType::boolean,
                                          .kind = kInput,
                                          .declared = declared,
                                          .shape = shape});
  graph.inputs = {x, keep};
  ops::GraphWriter writer(graph, "t");
  const TensorId scores = writer.add("Softmax", {writer.scaled(x, 2.0)});
  const TensorId zero = writer.scalar(DType::f32, 0.0);
  const TensorId least = writer.scalar(DType::f32, std::numeric_limits<float>::lowest());
  const TensorId mask = writer.transposed(writer.add("Where", {keep, zero, least}), {1, 0});
  const TensorId sum = writer.apply(ScalarOp::add, {writer.transposed(scores, {1, 0}), mask});
  graph.outputs = {writer.scaled(writer.add("Softmax", {sum}), 3.0)};
  return graph;
}

TEST_P(ModelPrecision, RowsThatAreMaskedWholeAreFinite) {
  const Graph graph = masked_scores({7, 5});
  Tensor keep = Tensor::allocate(DType::boolean, {7, 5});
  for (std::int64_t i = 0; i < keep.size(); ++i) keep.set(i, i % 5 == 3 ? 0.0 : 1.0);
  const std::vector<NamedTensor> inputs{{"x", random_tensor({7, 5}, 3)}, {"keep", keep}};
  for (const DType type : {DType::f16, DType::bf16}) {
    SCOPED_TRACE(name_of(type));
    expect_near(to_model(graph), inputs, stored_as(type), 0.05);
  }
}

}  // namespace
}  // namespace morton::test
