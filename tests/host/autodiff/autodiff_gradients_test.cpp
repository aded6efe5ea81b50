// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "autodiff/gradients.hpp"
#include "base/algebra/derivative.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "ops/core/graph_writer.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::CaseInput;
using test::DataKind;
using test::OperatorCase;

constexpr std::uint64_t kAutodiffGradientsSeed = 11;
constexpr std::size_t kElementsTried = 12;

using Values = std::map<TensorId, ReferenceTensor>;

/// Values of all tensors in double, from those of inputs and constants.
Values evaluate(const Graph& graph, Values values) {
  for (const Node& node : graph.nodes) {
    std::vector<ReferenceTensor> inputs;
    for (const TensorId id : node.inputs) {
      inputs.push_back(id == kNoTensor ? ReferenceTensor{} : values.at(id));
    }
    auto results = references(graph, node, inputs);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoTensor) values[node.outputs[i]] = std::move(results.at(i));
    }
  }
  return values;
}

/// A case with the loss sum of w * y behind its result y, w random.
struct Subject {
  Graph graph;
  Values given;
  std::vector<TensorId> wanted;
  TensorId loss = kNoTensor;
  std::size_t forward_nodes = 0;
};

Tensor random_like(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  std::uint64_t state = kAutodiffGradientsSeed;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    tensor.set(i, static_cast<double>(state >> 40U) / static_cast<double>(1U << 23U) - 1.0);
  }
  return tensor;
}

/// From where on the operator is smooth, and its result finite.
double least_of(const OperatorCase& test) {
  if (test.op == "Acosh") return 1.5;
  const bool needs_positive = test.op == "Log" || test.op == "Sqrt" || test.op == "Pow" ||
                              test.op == "Reciprocal" || test.op == "Div" ||
                              test.op == "ReduceLogSum";
  return needs_positive ? 0.5 : -2.0;
}

/// A prime, so that its multiples modulo a count are spread over all residues.
constexpr std::size_t kScattered = 7919;

Subject subject_of(const OperatorCase& test, DataKind kind) {
  Subject subject;
  subject.graph = test::make_graph(test, kAutodiffGradientsSeed, kind);
  passes::expand_composites(subject.graph, {});
  const TensorId y = subject.graph.outputs.front();
  GraphWriter writer(subject.graph, "loss");
  const TensorId w = writer.constant(random_like(subject.graph.tensor(y).shape));
  const TensorId product = writer.apply(ScalarOp::mul, {y, w});
  const auto count = element_count(subject.graph.tensor(y).shape);
  subject.loss = writer.sum(writer.reshaped(product, {count}), {0});
  subject.forward_nodes = subject.graph.nodes.size();
  std::map<std::string, Tensor> inputs;
  for (auto& input : test::make_inputs(test, kAutodiffGradientsSeed, kind))
    inputs[input.name] = input.tensor;
  for (const TensorId id : subject.graph.tensors.ids()) {
    const GraphTensor& tensor = subject.graph.tensors[id];
    if (tensor.kind == GraphTensor::Kind::activation) continue;
    const bool is_given = tensor.kind == GraphTensor::Kind::input;
    subject.given[id] = to_reference(is_given ? inputs.at(tensor.name) : tensor.data);
    if (least_of(test) > 0 && tensor.dtype == DType::f32 && id != w) {
      for (double& value : subject.given[id].value) value = least_of(test) + std::fabs(value);
    }
    const bool is_asked = !(test.op == "RoiAlign" && tensor.name == "x1");  // its regions have none
    if (is_asked && tensor.dtype == DType::f32 && id != w && element_count(tensor.shape) > 0) {
      subject.wanted.push_back(id);
    }
  }
  return subject;
}

double loss_at(const Subject& subject, TensorId id, std::size_t element, double change) {
  Graph forward = subject.graph;
  forward.nodes.resize(subject.forward_nodes);
  Values values;
  for (const auto& [given, value] : subject.given) values.insert({given, value});
  values.at(id).value.at(element) += change;
  return evaluate(forward, std::move(values)).at(subject.loss).value.front();
}

/// The analytic gradients of a case against central differences.
void expect_gradients(const OperatorCase& test, DataKind kind) {
  Subject subject = subject_of(test, kind);
  const auto gradients = add_gradients(subject.graph, subject.loss, subject.wanted);
  verify(subject.graph, "after add_gradients");
  Values given = subject.given;
  for (const TensorId id : subject.graph.tensors.ids()) {
    const GraphTensor& tensor = subject.graph.tensors[id];
    if (tensor.kind == GraphTensor::Kind::constant && !given.contains(id)) {
      given[id] = to_reference(tensor.data);
    }
  }
  const Values values = evaluate(subject.graph, std::move(given));
  for (std::size_t w = 0; w < subject.wanted.size(); ++w) {
    const TensorId id = subject.wanted[w];
    const std::size_t count = subject.given.at(id).value.size();
    std::vector<double> analytic(count, 0.0);
    if (gradients[w] != kNoTensor) analytic = values.at(gradients[w]).value;
    ASSERT_EQ(analytic.size(), count);
    double largest = 0.0;
    for (const double value : analytic) largest = std::max(largest, std::fabs(value));
    constexpr double kStep = 1e-5;
    for (std::size_t t = 0; t < std::min(count, kElementsTried); ++t) {
      // The first, the last, and others without a pattern; all where there are few.
      const std::size_t element = count <= kElementsTried ? t
                                  : t == 1                ? count - 1
                                                          : t * kScattered % count;
      const double numeric =
          (loss_at(subject, id, element, kStep) - loss_at(subject, id, element, -kStep)) /
          (2.0 * kStep);
      EXPECT_NEAR(analytic[element], numeric, 1e-8 + 1e-6 * std::max(largest, std::fabs(numeric)))
          << describe(test) << ": '" << subject.graph.tensor(id).name << "', element " << element;
    }
  }
}

/// Operators that compute reals from reals and that nothing can be trained through, with the
/// reason.
const std::map<std::string, std::string>& without_gradient() {
  static const std::map<std::string, std::string> kWithout{
      {"ai.onnx.ml.LabelEncoder", "steps"},
      {"ai.onnx.ml.LinearClassifier", "its label is a step"},
      {"ai.onnx.ml.OneHotEncoder", "steps"},
      {"ai.onnx.ml.SVMClassifier", "its label is a step"},
      {"ai.onnx.ml.TreeEnsemble", "steps"},
      {"ai.onnx.ml.TreeEnsembleClassifier", "steps"},
      {"ai.onnx.ml.TreeEnsembleRegressor", "steps"},
      {"ai.onnx.preview.training.Adagrad", "a step of training"},
      {"ai.onnx.preview.training.Adam", "a step of training"},
      {"ai.onnx.preview.training.Momentum", "a step of training"},
      {"com.microsoft.DynamicQuantizeLSTM", "codes of all sizes bring its gates to their ends"},
      {"com.microsoft.DynamicQuantizeMatMul", "steps"},
      {"ArgMax", "steps"},
      {"ArgMin", "steps"},
      {"CodedMatMul", "written behind the gradients, by a pass"},
      {"Hardmax", "steps"},
      {"MaxPoolGradient", "a second derivative"},
      {"PairwiseCoupling", "an iteration"},
      {"Range", "computed when the model is planned"},
      {"Trees", "steps"},
  };
  return kWithout;
}

/// How many cases of an operator are of modes that have no gradient, while others have one.
const std::map<std::string, int>& modes_without_gradient() {
  static const std::map<std::string, int> kModes{
      {"LayerNormalization", 14},  // whose mean or deviation is read
      {"Pad", 5},                  // other than constant
      {"RoiAlign", 2},             // max
      {"ScatterElements", 3},      // mul, min, max
      {"ScatterND", 3},            // the same
      {"com.microsoft.SkipLayerNormalization", 2},
  };
  return kModes;
}

/// Of the operator and those behind it, and of what they are composed of.
bool has_gradient(const OperatorCase& test) {
  if (without_gradient().contains(test.op)) return false;
  Graph graph = test::make_graph(test, kAutodiffGradientsSeed, DataKind::zero_mean);
  passes::expand_composites(graph, {});
  return std::ranges::none_of(
      graph.nodes, [](const Node& node) { return without_gradient().contains(node.op); });
}

bool is_of_f32(const OperatorCase& test) {
  const Graph graph = test::make_graph(test, kAutodiffGradientsSeed, DataKind::zero_mean);
  return graph.tensor(graph.outputs.front()).dtype == DType::f32 &&
         element_count(graph.tensor(graph.outputs.front()).shape) > 0;
}

TEST(Gradients, AreThoseOfCentralDifferences) {
  std::map<std::string, int> tried, refused;
  for (const OperatorCase& test :
       test::all_cases(std::string(MORTON_SOURCE_DIR) + "/tests/cases")) {
    if (!test.small || !has_gradient(test) || !is_of_f32(test)) continue;
    SCOPED_TRACE(describe(test));
    try {
      expect_gradients(test, DataKind::zero_mean);
      ++tried[test.op];
    } catch (const UnsupportedError&) {
      ++refused[test.op];  // modes of an operator that has one in others
    }
  }
  EXPECT_GT(tried.size(), 60U);
  for (const auto& [op, count] : refused) {
    ASSERT_TRUE(modes_without_gradient().contains(op)) << op;
    EXPECT_LE(count, modes_without_gradient().at(op)) << op;
    EXPECT_TRUE(tried.contains(op)) << op;
  }
}

/// The gradient of y = op(x), on the reference, at these x; 1 comes back to every element of y.
std::vector<double> slopes(const std::string& op, const std::vector<float>& x) {
  const OperatorCase test = test::parse_case(op, "t | " + std::to_string(x.size()), "test");
  Graph graph = test::make_graph(test, kAutodiffGradientsSeed, DataKind::zero_mean);
  GraphWriter writer(graph, "loss");
  const TensorId loss = writer.reshaped(writer.sum(graph.outputs.front(), {0}), {});
  const auto gradient = add_gradients(graph, loss, graph.inputs);
  Values values;
  for (const TensorId id : graph.tensors.ids()) {
    if (graph.tensors[id].kind == GraphTensor::Kind::constant) {
      values[id] = to_reference(graph.tensors[id].data);
    }
  }
  values[graph.inputs.front()] =
      to_reference(Tensor::from({static_cast<std::int64_t>(x.size())}, x));
  return evaluate(graph, values).at(gradient.front()).value;
}

TEST(Gradients, StayFiniteWhereExpOverflows) {
  EXPECT_EQ(slopes("Sigmoid", {-2000, 2000}), (std::vector<double>{0, 0}));
  EXPECT_EQ(slopes("Elu", {-2000, 2000}), (std::vector<double>{0, 1}));
  EXPECT_EQ(slopes("Softplus", {-2000, 2000}), (std::vector<double>{0, 1}));
}

TEST(Gradients, TakeASideAtAnEdge) {
  EXPECT_EQ(slopes("Relu", {-1, 0, 1}), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(slopes("Abs", {-1, 0, 1}), (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(slopes("Softplus", {0}), (std::vector<double>{0.5}));
  EXPECT_EQ(slopes("Celu", {0, 1}), (std::vector<double>{1, 1}));
  EXPECT_EQ(slopes("LeakyRelu", {-1, 0, 1}), (std::vector<double>{0.01, 0.01, 1}));
}

/// The gradients of the sum of a result in double, where the one input has these values.
std::vector<double> gradient_at(const OperatorCase& test, const Tensor& x) {
  Graph graph = test::make_graph(test, kAutodiffGradientsSeed, DataKind::zero_mean);
  passes::expand_composites(graph, {});
  GraphWriter writer(graph, "loss");
  const TensorId y = graph.outputs.front();
  const auto count = element_count(graph.tensor(y).shape);
  const TensorId loss = writer.reshaped(writer.sum(writer.reshaped(y, {count}), {0}), {});
  const std::vector<TensorId> input{graph.inputs.front()};
  const auto gradients = add_gradients(graph, loss, input);
  Values values;
  for (const TensorId id : graph.tensors.ids()) {
    if (graph.tensors[id].kind == GraphTensor::Kind::constant) {
      values[id] = to_reference(graph.tensors[id].data);
    }
  }
  values[input.front()] = to_reference(x);
  return evaluate(graph, values).at(gradients.front()).value;
}

/// Zeros and singular matrices have gradients too; nothing is divided by.
TEST(Gradients, OfProductsDivideByNothing) {
  const auto zeros = test::parse_case("CumProd", "t | 4 [0] | | | small opset=26", "test");
  // y = 2, 0, 0, 0 of x = 2, 0, 3, 0.
  EXPECT_EQ(gradient_at(zeros, Tensor::from({4}, std::vector<float>{2, 0, 3, 0})),
            (std::vector<double>{1, 2 + 2 * 3, 0, 0}));
  const auto singular = test::parse_case("Det", "t | 2x2 | | | small", "test");
  EXPECT_EQ(gradient_at(singular, Tensor::from({2, 2}, std::vector<float>{1, 2, 2, 4})),
            (std::vector<double>{4, -2, -2, 1}));
}

/// Where a place is that of an element, the grid's gradient is the slope towards the next one.
TEST(Gradients, OfAGridOnTheElementsLookForward) {
  const OperatorCase test = test::parse_case(
      "GridSample", "t | 1x1x3 1x3x1 | align_corners=1 | | small opset=20", "test");
  Graph graph = test::make_graph(test, kAutodiffGradientsSeed, DataKind::zero_mean);
  GraphWriter writer(graph, "loss");
  const TensorId sum = writer.sum(writer.reshaped(graph.outputs.front(), {3}), {0});
  const std::vector<TensorId> inputs = graph.inputs;
  const auto gradients = add_gradients(graph, writer.reshaped(sum, {}), inputs);
  Values values;
  for (const TensorId id : graph.tensors.ids()) {
    if (graph.tensors[id].kind == GraphTensor::Kind::constant) {
      values[id] = to_reference(graph.tensors[id].data);
    }
  }
  values[inputs[0]] = to_reference(Tensor::from({1, 1, 3}, std::vector<float>{1, 4, 9}));
  values[inputs[1]] = to_reference(Tensor::from({1, 3, 1}, std::vector<float>{-1, 0, 1}));
  const Values found = evaluate(graph, values);
  // A step of 1 in the grid is one element; behind the last one lies a zero.
  EXPECT_EQ(found.at(gradients[1]).value, (std::vector<double>{3, 5, -9}));
  EXPECT_EQ(found.at(gradients[0]).value, (std::vector<double>{1, 1, 1}));
}

TEST(Gradients, NameTheNodeThatHasNone) {
  try {
    static_cast<void>(slopes("Hardmax", {1, 2}));
    FAIL() << "Hardmax has a gradient";
  } catch (const UnsupportedError& error) {
    EXPECT_EQ(std::string(error.what()),
              "Hardmax 'Hardmax_0': has no gradient: nothing before it can be trained");
  }
}

}  // namespace
}  // namespace morton::test
