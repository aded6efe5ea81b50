// SPDX-License-Identifier: Apache-2.0
//
// Softmax regression on the digits: gradients and stochastic gradient descent as nodes of a graph,
// the weights as states that each run renews.
#include <algorithm>
#include <cmath>

#include "model/model_check.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class ModelTraining : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelTraining);

constexpr std::int64_t kDigitPixels = 28 * 28;
constexpr std::int64_t kDigitClasses = 10;
constexpr std::int64_t kBatch = 50;

struct Digits {
  Tensor pixels;  ///< f32 [count, 784], 0 to 1
  std::vector<int> labels;
};

Digits read_digits(const std::string& kind) {
  const std::string folder = MORTON_SOURCE_DIR "/data/mnist/" + kind;
  const Tensor images = read_tensors(folder + "-images-idx3-ubyte.gz")[0].tensor;
  const Tensor labels = read_tensors(folder + "-labels-idx1-ubyte.gz")[0].tensor;
  Digits digits;
  digits.pixels = Tensor::allocate(DType::f32, {labels.size(), kDigitPixels});
  const auto from = images.as<std::uint8_t>();
  std::transform(from.begin(), from.end(), digits.pixels.as_mutable<float>().begin(),
                 [](std::uint8_t grey) { return static_cast<float>(grey) / 255.0F; });
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    digits.labels.push_back(static_cast<int>(labels.at(i)));
  }
  return digits;
}

/// The batch that begins at digit `first`: its pixels, and its labels as rows with one 1.
std::vector<NamedTensor> batch_of(const Digits& digits, std::int64_t first) {
  Tensor x = Tensor::allocate(DType::f32, {kBatch, kDigitPixels});
  Tensor y = Tensor::allocate(DType::f32, {kBatch, kDigitClasses});
  const auto from = digits.pixels.as<float>();
  std::copy_n(from.begin() + first * kDigitPixels, kBatch * kDigitPixels,
              x.as_mutable<float>().begin());
  for (std::int64_t i = 0; i < kBatch; ++i) {
    y.set(i * kDigitClasses + digits.labels[static_cast<std::size_t>(first + i)], 1.0);
  }
  return {{"x", x}, {"y", y}};
}

TensorId state(Graph& graph, const std::string& name, const Shape& shape) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::state;
  tensor.shape = shape;
  tensor.data = Tensor::allocate(DType::f32, shape);
  return graph.add_tensor(std::move(tensor));
}

TensorId constant(Graph& graph, const std::string& name, const Shape& shape, double value) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::constant;
  tensor.shape = shape;
  tensor.data = Tensor::allocate(DType::f32, shape);
  for (std::int64_t i = 0; i < tensor.data.size(); ++i) tensor.data.set(i, value);
  return graph.add_tensor(std::move(tensor));
}

TensorId node(Graph& graph, const std::string& op, const std::string& name,
              const std::vector<TensorId>& inputs,
              const std::map<std::string, Attribute>& attributes = {}) {
  const TensorId id = graph.add_tensor({.name = name});
  graph.nodes.push_back(
      {.op = op, .name = name, .inputs = inputs, .outputs = {id}, .attributes = attributes});
  return id;
}

/// One step: p = softmax(x W + b); the cross-entropy's gradient for the logits is p - y, for W
/// x' (p - y) / batch, for b its column sums; both states go down it by `rate`.
Graph training_step(double rate) {
  Graph graph;
  graph.name = "softmax_regression";
  for (const auto& [name, columns] :
       {std::pair("x", kDigitPixels), std::pair("y", kDigitClasses)}) {
    GraphTensor input;
    input.name = name;
    input.kind = GraphTensor::Kind::input;
    input.declared = {{kBatch, ""}, {columns, ""}};
    graph.inputs.push_back(graph.add_tensor(std::move(input)));
  }
  const TensorId w = state(graph, "w", {kDigitPixels, kDigitClasses});
  const TensorId b = state(graph, "b", {1, kDigitClasses});
  const TensorId ones = constant(graph, "ones", {1, kBatch}, 1.0);
  const TensorId lr = constant(graph, "rate", {}, rate);
  const std::map<std::string, Attribute> mean{{"alpha", 1.0 / kBatch}};
  std::map<std::string, Attribute> transposed = mean;
  transposed["transA"] = std::int64_t{1};
  const TensorId logits = node(graph, "Gemm", "logits", {graph.inputs[0], w, b});
  const TensorId p = node(graph, "Softmax", "p", {logits}, {{"axis", std::int64_t{1}}});
  const TensorId error = node(graph, "Sub", "error", {p, graph.inputs[1]});
  const TensorId dw = node(graph, "Gemm", "dw", {graph.inputs[0], error}, transposed);
  const TensorId db = node(graph, "Gemm", "db", {ones, error}, mean);
  const TensorId w_step = node(graph, "Mul", "w_step", {dw, lr});
  const TensorId b_step = node(graph, "Mul", "b_step", {db, lr});
  const TensorId w_next = node(graph, "Sub", "w_next", {w, w_step});
  const TensorId b_next = node(graph, "Sub", "b_next", {b, b_step});
  graph.outputs = {p};
  graph.updates = {{w, w_next}, {b, b_next}};
  return graph;
}

double accuracy(const Digits& digits, const Tensor& w, const Tensor& b) {
  int right = 0;
  const auto pixels = digits.pixels.as<float>();
  const auto weights = w.as<float>();
  for (std::size_t i = 0; i < digits.labels.size(); ++i) {
    std::array<double, kDigitClasses> score{};
    for (std::size_t c = 0; c < kDigitClasses; ++c) score[c] = b.at(static_cast<std::int64_t>(c));
    for (std::size_t k = 0; k < kDigitPixels; ++k) {
      for (std::size_t c = 0; c < kDigitClasses; ++c) {
        score[c] +=
            static_cast<double>(pixels[i * kDigitPixels + k] * weights[k * kDigitClasses + c]);
      }
    }
    const auto best = std::max_element(score.begin(), score.end()) - score.begin();
    if (best == digits.labels[i]) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(digits.labels.size());
}

/// What the states hold after one step, in double.
std::vector<ReferenceTensor> reference_step(const std::vector<NamedTensor>& inputs) {
  Graph graph = training_step(0.5);
  for (GraphTensor& tensor : graph.tensors) {
    if (tensor.kind == GraphTensor::Kind::state) tensor.kind = GraphTensor::Kind::constant;
  }
  graph.outputs = {graph.updates[0].value, graph.updates[1].value};
  graph.updates.clear();
  return reference_outputs(with_shapes(graph, kBatch), inputs);
}

void expect_first_step(const Device& device, const CompileOptions& options) {
  const Digits digits = read_digits("train");
  const auto inputs = batch_of(digits, 0);
  Session session(compile(to_model(training_step(0.5)), device, options));
  (void)session.run(inputs);
  const auto expected = reference_step(inputs);
  for (const auto& [name, i] : {std::pair("w", 0), std::pair("b", 1)}) {
    const Tensor got = session.get_state(name);
    const Comparison comparison = compare(expected[static_cast<std::size_t>(i)], got.as<float>());
    EXPECT_TRUE(comparison.ok()) << name << ": " << comparison.text;
  }
}

TEST_P(ModelTraining, FirstStepIsTheReferences) { expect_first_step(device(), {}); }

TEST_P(ModelTraining, FirstStepIsTheReferencesWithPackedWeights) {
  CompileOptions options;
  options.use["gemm"] = "gemm.tile";
  expect_first_step(device(), options);
}

/// The states after an epoch.
std::pair<Tensor, Tensor> train(const Device& device, const CompileOptions& options) {
  const Digits digits = read_digits("train");
  Session session(compile(to_model(training_step(0.5)), device, options));
  const auto count = static_cast<std::int64_t>(digits.labels.size());
  for (std::int64_t first = 0; first + kBatch <= count; first += kBatch) {
    for (const NamedTensor& input : batch_of(digits, first)) {
      session.set_input(input.name, input.tensor);
    }
    session.enqueue();
  }
  return {session.get_state("w"), session.get_state("b")};
}

TEST_P(ModelTraining, LearnsTheDigits) {
  const auto [w, b] = train(device(), {});
  EXPECT_GE(accuracy(read_digits("t10k"), w, b), 0.88);
}

TEST_P(ModelTraining, LearnsTheSameWithPackedWeights) {
  CompileOptions packed;
  packed.use["gemm"] = "gemm.morton_4_2";
  const auto [w, b] = train(device(), {});
  const auto [w_packed, b_packed] = train(device(), packed);
  EXPECT_GE(accuracy(read_digits("t10k"), w_packed, b_packed), 0.88);
  double largest = 0.0;
  for (std::int64_t i = 0; i < w.size(); ++i) {
    largest = std::max(largest, std::fabs(w.at(i) - w_packed.at(i)));
  }
  // Weights of up to 1 that rounding of products in another order moved apart over an epoch.
  EXPECT_TRUE(largest < 1e-4) << largest;
}

TEST_P(ModelTraining, RenewsTheWeightsInPlace) {
  CompileOptions options;
  options.launches = CompileOptions::Launches::apart;  // one line for each update
  const auto model = compile(to_model(training_step(0.5)), device(), options);
  const std::string text = model.plan_text(CompiledModel::Detail::brief);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(", in place", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 2U) << text;
}

TEST_P(ModelTraining, AStateTakesAProduct) {
  Graph graph;
  graph.name = "product";
  GraphTensor input;
  input.name = "x";
  input.kind = GraphTensor::Kind::input;
  input.declared = {{17, ""}, {3, ""}};
  graph.inputs.push_back(graph.add_tensor(std::move(input)));
  GraphTensor weights;
  weights.name = "weights";
  weights.kind = GraphTensor::Kind::constant;
  weights.shape = {3, 63};
  weights.data = random_tensor({3, 63}, 2);
  const TensorId w = graph.add_tensor(std::move(weights));
  const TensorId product = node(graph, "MatMul", "product", {graph.inputs[0], w});
  graph.outputs = {node(graph, "Tanh", "y", {product})};
  graph.updates = {{state(graph, "kept", {17, 63}), product}};
  Graph plain = graph;
  plain.outputs = {product};
  plain.updates.clear();
  const std::vector<NamedTensor> inputs{{"x", random_tensor({17, 3}, 1)}};
  Session session(compile(to_model(graph), device(), {}));
  (void)session.run(inputs);
  const auto expected = reference_outputs(with_shapes(plain, 0), inputs);
  const Comparison comparison = compare(expected[0], session.get_state("kept").as<float>());
  EXPECT_TRUE(comparison.ok()) << comparison.text;
}

TEST_P(ModelTraining, StatesAreTheSessionsOwn) {
  const Digits digits = read_digits("train");
  const auto model = compile(to_model(training_step(0.5)), device(), {});
  Session learning(model);
  Session other(model);
  (void)learning.run(batch_of(digits, 0));
  EXPECT_NE(learning.get_state("b").at(0), 0.0);
  EXPECT_EQ(other.get_state("b").at(0), 0.0);
  other.set_state("b", learning.get_state("b"));
  EXPECT_EQ(other.get_state("b").at(0), learning.get_state("b").at(0));
  EXPECT_THROW((void)other.get_state("c"), UsageError);
}

}  // namespace
}  // namespace morton::test
