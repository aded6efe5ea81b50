// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "autodiff/optimizers.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr int kSteps = 7;
constexpr double kRate = 0.1;
using Kind = OptimizerOptions::Kind;
using OptimizerValues = std::vector<double>;

GraphTensor tensor_of(const std::string& name, GraphTensor::Kind kind, const Tensor& data) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = kind;
  tensor.shape = data.shape();
  if (kind != GraphTensor::Kind::input) tensor.data = data;
  return tensor;
}

const Shape kShape{3, 2};

OptimizerValues gradient_at(int step) {
  const Tensor tensor = test::random_tensor(kShape, 100U + static_cast<unsigned>(step));
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

Tensor number(double value) {
  Tensor tensor = Tensor::allocate(DType::f32, {});
  tensor.set(0, value);
  return tensor;
}

/// A parameter p with the input g as its gradient, renewed again and again in double.
class Descent {
 public:
  explicit Descent(const OptimizerOptions& options) : options_(options) {
    const TensorId p =
        graph_.add_tensor(tensor_of("p", GraphTensor::Kind::state, test::random_tensor(kShape, 1)));
    const TensorId g = graph_.add_tensor(
        tensor_of("g", GraphTensor::Kind::input, Tensor::allocate(DType::f32, kShape)));
    graph_.inputs = {g};
    add_updates(graph_, options, {{p, g}});
  }

  /// What p is after each step.
  std::vector<OptimizerValues> run() {
    std::vector<OptimizerValues> course;
    for (int t = 1; t <= kSteps; ++t) {
      step(t);
      course.push_back(values_of("p"));
    }
    return course;
  }

  [[nodiscard]] OptimizerValues values_of(const std::string& name) const {
    const Tensor& data = graph_.tensor(graph_.find(name)).data;
    return {data.as<float>().begin(), data.as<float>().end()};
  }

 private:
  void step(int t) {
    Graph once = graph_;
    once.outputs.clear();
    for (const StateUpdate& update : once.updates) once.outputs.push_back(update.value);
    once.updates.clear();
    for (GraphTensor& tensor : once.tensors) {
      if (tensor.kind == GraphTensor::Kind::state) tensor.kind = GraphTensor::Kind::constant;
    }
    std::vector<NamedTensor> inputs{
        {"g", test::random_tensor(kShape, 100U + static_cast<unsigned>(t))},
        {kRateInput, number(kRate)}};
    if (graph_.find(kCorrection1Input) != kNoTensor) {
      inputs.push_back({kCorrection1Input, number(1.0 / (1.0 - std::pow(options_.beta1, t)))});
      inputs.push_back(
          {kCorrection2Input, number(1.0 / std::sqrt(1.0 - std::pow(options_.beta2, t)))});
    }
    const auto values = test::reference_outputs(once, inputs);
    for (std::size_t i = 0; i < graph_.updates.size(); ++i) {
      GraphTensor& state = graph_.tensor(graph_.updates[i].state);
      state.data = state.data.clone();
      for (std::int64_t e = 0; e < state.data.size(); ++e) {
        state.data.set(e, values[i].value[static_cast<std::size_t>(e)]);
      }
    }
  }

  OptimizerOptions options_;
  Graph graph_;
};

/// One element of the parameter as the papers (and PyTorch) have it.
struct Element {
  double p = 0.0, v = 0.0, m = 0.0, s = 0.0;

  void renew(const OptimizerOptions& o, double g, int t) {
    if (o.kind == Kind::adamw) {
      p -= kRate * o.weight_decay * p;
    } else {
      g += o.weight_decay * p;
    }
    if (o.kind == Kind::adam || o.kind == Kind::adamw) {
      m = o.beta1 * m + (1.0 - o.beta1) * g;
      s = o.beta2 * s + (1.0 - o.beta2) * g * g;
      const double mean = m / (1.0 - std::pow(o.beta1, t));
      const double square = s / (1.0 - std::pow(o.beta2, t));
      p -= kRate * mean / (std::sqrt(square) + o.epsilon);
      return;
    }
    if (o.kind == Kind::rmsprop) {
      s = o.decay * s + (1.0 - o.decay) * g * g;
      g /= std::sqrt(s) + o.epsilon;
    }
    v = o.momentum * v + g;
    const bool nesterov = o.form == OptimizerOptions::Momentum::nesterov;
    p -= kRate * (nesterov ? g + o.momentum * v : v);
  }
};

void expect_formula(const OptimizerOptions& options) {
  Descent descent(options);
  const OptimizerValues first = descent.values_of("p");
  std::vector<Element> elements(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) elements[i].p = first[i];
  const auto course = descent.run();
  for (int t = 1; t <= kSteps; ++t) {
    const OptimizerValues g = gradient_at(t);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i].renew(options, g[i], t);
      const double got = course[static_cast<std::size_t>(t - 1)][i];
      EXPECT_NEAR(got, elements[i].p, 2e-6) << "element " << i << ", step " << t;
    }
  }
}

TEST(Optimizers, DescendWithMomentum) {
  OptimizerOptions options;
  expect_formula(options);
  options.momentum = 0.9;
  expect_formula(options);
  options.weight_decay = 0.05;
  expect_formula(options);
  options.form = OptimizerOptions::Momentum::nesterov;
  expect_formula(options);
}

TEST(Optimizers, FollowAdam) {
  OptimizerOptions options;
  options.kind = Kind::adam;
  expect_formula(options);
  options.beta1 = 0.7;
  options.beta2 = 0.9;
  options.epsilon = 0.01;
  options.weight_decay = 0.05;
  expect_formula(options);
  options.kind = Kind::adamw;
  expect_formula(options);
}

TEST(Optimizers, FollowRmsprop) {
  OptimizerOptions options;
  options.kind = Kind::rmsprop;
  expect_formula(options);
  options.momentum = 0.5;
  options.weight_decay = 0.05;
  options.decay = 0.8;
  expect_formula(options);
}

TEST(Optimizers, BiasesDoNotDecay) {
  Graph graph;
  const Tensor ones = test::random_tensor({5}, 1);
  const TensorId p = graph.add_tensor(tensor_of("p", GraphTensor::Kind::state, ones));
  const TensorId g =
      graph.add_tensor(tensor_of("g", GraphTensor::Kind::input, Tensor::allocate(DType::f32, {5})));
  graph.inputs = {g};
  OptimizerOptions options;
  options.weight_decay = 0.5;
  add_updates(graph, options, {{p, g}});
  graph.outputs = {graph.updates[0].value};
  graph.updates.clear();
  graph.tensor(p).kind = GraphTensor::Kind::constant;
  const Tensor zero = Tensor::allocate(DType::f32, {5});
  const auto values = test::reference_outputs(
      graph, std::vector<NamedTensor>{{"g", zero}, {kRateInput, number(kRate)}});
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(values[0].value[static_cast<std::size_t>(i)], ones.at(i));
  }
}

/// The gradients of two parameters, clipped together.
std::vector<OptimizerValues> clipped(double limit) {
  Graph graph;
  std::vector<Learned> learned;
  std::vector<NamedTensor> inputs;
  for (const char* name : {"a", "b"}) {
    const Tensor data = test::random_tensor(kShape, name[0]);
    const TensorId id = graph.add_tensor(tensor_of(name, GraphTensor::Kind::input, data));
    graph.inputs.push_back(id);
    learned.push_back({id, id});
    inputs.push_back({name, data});
  }
  clip_gradients(graph, limit, learned);
  for (const Learned& one : learned) graph.outputs.push_back(one.gradient);
  std::vector<OptimizerValues> values;
  for (const ReferenceTensor& tensor : test::reference_outputs(graph, inputs)) {
    values.push_back(tensor.value);
  }
  return values;
}

TEST(Optimizers, ClipAllGradientsTogether) {
  double squares = 0.0;
  for (const char name : {'a', 'b'}) {
    const Tensor data = test::random_tensor(kShape, name);
    for (const float value : data.as<float>()) {
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  const double length = std::sqrt(squares);
  for (const double limit : {0.25 * length, 4.0 * length}) {
    const double factor = std::min(1.0, limit / (length + 1e-6));
    const auto values = clipped(limit);
    for (std::size_t p = 0; p < 2; ++p) {
      const Tensor given = test::random_tensor(kShape, p == 0 ? 'a' : 'b');
      for (std::size_t i = 0; i < values[p].size(); ++i) {
        EXPECT_NEAR(values[p][i], factor * given.at(static_cast<std::int64_t>(i)), 1e-7);
      }
    }
  }
}

}  // namespace
}  // namespace morton::test
