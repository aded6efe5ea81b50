// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

#include "autodiff/parameters.hpp"
#include "ops/core/graph_writer.hpp"
#include "passes/passes.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class Network {
 public:
  explicit Network(const Shape& shape) : writer_(graph_, "node") {
    graph_.opset = 13;
    GraphTensor input;
    input.name = "x";
    input.kind = GraphTensor::Kind::input;
    input.shape = shape;
    last_ = graph_.add_tensor(std::move(input));
    graph_.inputs = {last_};
  }

  TensorId constant(const std::string& name, const Tensor& data) {
    GraphTensor tensor;
    tensor.name = name;
    tensor.kind = GraphTensor::Kind::constant;
    tensor.shape = data.shape();
    tensor.data = data;
    return graph_.add_tensor(std::move(tensor));
  }
  TensorId constant(const std::string& name, const Shape& shape) {
    return constant(name, test::random_tensor(shape, 3));
  }
  Network& add(const std::string& op, TensorId with) {
    last_ = writer_.add(op, {last_, with});
    return *this;
  }
  GraphWriter& writer() { return writer_; }

  [[nodiscard]] std::vector<std::string> parameters() const { return named(parameters_of(graph_)); }
  [[nodiscard]] std::vector<std::string> scales() const {
    return named(ambiguous_parameters(graph_).scales);
  }
  [[nodiscard]] std::vector<std::string> numbers() const {
    return named(ambiguous_parameters(graph_).numbers);
  }

 private:
  [[nodiscard]] std::vector<std::string> named(const std::vector<TensorId>& ids) const {
    std::vector<std::string> names;
    for (const TensorId id : ids) names.push_back(graph_.tensor(id).name);
    return names;
  }

  Graph graph_;
  GraphWriter writer_;
  TensorId last_ = kNoTensor;
};

using ::testing::ElementsAre;

TEST(Parameters, ConstantsBeforeTheFirstWeightsBringDataIntoShape) {
  Network network({2, 3});
  network.add("Sub", network.constant("mean", {3})).add("Div", network.constant("deviation", {3}));
  network.add("MatMul", network.constant("w", {3, 4})).add("Add", network.constant("b", {4}));
  EXPECT_THAT(network.parameters(), ElementsAre("w", "b"));
}

TEST(Parameters, AShapeInBetweenChangesNothing) {
  Network network({2, 3});
  network.add("Sub", network.writer().reshaped(network.constant("mean", {3}), {1, 3}));
  network.add("MatMul", network.writer().transposed(network.constant("w", {4, 3}), {1, 0}));
  network.add("Add", network.writer().reshaped(network.constant("b", {4}), {1, 4}));
  EXPECT_THAT(network.parameters(), ElementsAre("w", "b"));
}

TEST(Parameters, SingleNumbersAreStatedButForABiasAndASlope) {
  Network network({2, 3});
  network.add("MatMul", network.constant("w", {3, 1})).add("Add", network.constant("b", {1}));
  network.add("PRelu", network.constant("slope", {1})).add("Mul", network.constant("scale", {1}));
  EXPECT_THAT(network.parameters(), ElementsAre("w", "b", "slope"));
}

TEST(Parameters, TheBiasOfAConvolutionOfOneChannelIsLearned) {
  Network network({2, 3, 4, 4});
  network.add("Conv", network.constant("w", {1, 3, 3, 3}));
  network.add("Add", network.constant("b", {1, 1, 1}));
  EXPECT_THAT(network.parameters(), ElementsAre("w", "b"));
}

/// A file has a learned scale, a mask of dropped units and a deviation as the same constants.
TEST(Parameters, WhatAFileDoesNotTellIsNamed) {
  Network network({2, 3});
  network.add("Sub", network.constant("mean", {3}));
  network.add("MatMul", network.constant("w", {3, 4})).add("Add", network.constant("b", {4}));
  network.add("Mul", network.constant("mask", {4})).add("Div", network.constant("deviation", {4}));
  network.add("Mul", network.constant("alpha", {1}));
  EXPECT_THAT(network.parameters(), ElementsAre("w", "b", "mask", "deviation"));
  EXPECT_THAT(network.scales(), ElementsAre("mask", "deviation"));
  EXPECT_THAT(network.numbers(), ElementsAre("alpha"));
}

TEST(Parameters, WhatIsNotFiniteIsAMask) {
  Network network({2, 3});
  Tensor mask = Tensor::allocate(DType::f32, {4});
  mask.set(1, -std::numeric_limits<double>::infinity());
  network.add("MatMul", network.constant("w", {3, 4})).add("Add", network.constant("mask", mask));
  EXPECT_THAT(network.parameters(), ElementsAre("w"));
}

/// Scale and shift go into a chain; what normalises the groups has constants of its own.
TEST(Parameters, OfComposedOperatorsAreTheModelsOwn) {
  WrittenOut graphs;
  graphs.model.opset = 21;
  const auto add = [&](const std::string& name, GraphTensor::Kind kind, const Shape& shape) {
    GraphTensor tensor;
    tensor.name = name;
    tensor.kind = kind;
    tensor.shape = shape;
    if (kind == GraphTensor::Kind::constant) tensor.data = test::random_tensor(shape, 3);
    return graphs.model.add_tensor(std::move(tensor));
  };
  const TensorId x = add("x", GraphTensor::Kind::input, {2, 4, 3, 3});
  const TensorId scale = add("scale", GraphTensor::Kind::constant, {4});
  const TensorId shift = add("shift", GraphTensor::Kind::constant, {4});
  graphs.model.inputs = {x};
  GraphWriter writer(graphs.model, "node");
  graphs.model.outputs = {
      writer.add("GroupNormalization", {x, scale, shift}, {{"num_groups", std::int64_t{2}}})};
  graphs.expanded = graphs.model;
  passes::expand_composites(graphs.expanded, {});
  std::vector<std::string> names;
  for (const TensorId id : parameters_of(graphs)) {
    names.push_back(graphs.expanded.tensor(id).name);
  }
  EXPECT_THAT(names, ElementsAre("scale", "shift"));
  EXPECT_GT(parameters_of(graphs.expanded).size(), 0U);
}

}  // namespace
}  // namespace morton::test
