// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autodiff/training_step.hpp"
#include "base/error.hpp"
#include "ops/core/graph_writer.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using Names = std::vector<std::string>;

/// A product of x, [4, 3], with weights and a bias of these names.
Graph product(const std::string& weights, const std::string& bias) {
  Graph graph;
  GraphTensor input;
  input.name = "x";
  input.kind = GraphTensor::Kind::input;
  input.shape = {4, 3};
  input.declared = {{4, ""}, {3, ""}};
  const TensorId x = graph.add_tensor(std::move(input));
  graph.inputs = {x};
  const auto parameter = [&](const std::string& name, const Shape& shape) {
    GraphTensor tensor;
    tensor.name = name;
    tensor.kind = GraphTensor::Kind::constant;
    tensor.shape = shape;
    tensor.data = test::random_tensor(shape, 3);
    return graph.add_tensor(std::move(tensor));
  };
  const TensorId w = parameter(weights, {3, 2});
  const TensorId b = parameter(bias, {2});
  graph.outputs = {GraphWriter(graph, "node").add("Gemm", {x, w, b})};
  return graph;
}

/// What `pattern` freezes of the two; nothing where that is an error.
Names frozen(const Graph& graph, const std::string& pattern) {
  TrainingStepOptions options;
  options.batch = 4;
  options.freeze = {pattern};
  try {
    return make_training_step(graph, options).frozen;
  } catch (const UsageError&) {
    return {};
  }
}

TEST(FreezePatterns, StandForTextsAndCharacters) {
  const Graph graph = product("ones", "scale");
  for (const char* pattern : {"ones", "o*", "*s", "*n*", "o*e*s", "????", "*o?e?*", "**ones**"}) {
    EXPECT_EQ(frozen(graph, pattern), Names{"ones"}) << pattern;
  }
  for (const char* pattern : {"", "one", "onesx", "?", "o*x", "x*", "ones?", "*nes?*", "*E*"}) {
    EXPECT_EQ(frozen(graph, pattern), Names{}) << pattern;
  }
}

TEST(FreezePatterns, TakeNoExponentialTime) {
  const std::string name(48, 'a');
  const Graph graph = product(name, "bias");
  EXPECT_EQ(frozen(graph, "*a*a*a*a*a*a*a*a*b"), Names{});
  EXPECT_EQ(frozen(graph, "*a*a*a*a*a*a*a*a*"), Names{name});
}

TEST(TrainingStep, TakesInputsOfF32) {
  Graph graph = product("weights", "bias");
  graph.tensor(graph.inputs[0]).dtype = DType::i32;
  TrainingStepOptions options;
  options.batch = 4;
  try {
    (void)make_training_step(graph, options);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("the input 'x' is i32; a model that is trained takes f32"));
  }
}

}  // namespace
}  // namespace morton::test
