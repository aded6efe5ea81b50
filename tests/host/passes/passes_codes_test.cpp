// SPDX-License-Identifier: Apache-2.0
//
// Layers between DequantizeLinear and QuantizeLinear: what they become, and that they give the
// same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/core/graph_writer.hpp"
#include "passes/passes.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::Contains;
using testing::Not;

Tensor i8_weights(const Shape& shape) {
  Tensor weights = Tensor::allocate(DType::i8, shape);
  int i = 0;
  for (std::int8_t& value : weights.as_mutable<std::int8_t>()) {
    value = static_cast<std::int8_t>(i++ * 37 % 255 - 127);
  }
  return weights;
}

Tensor steps(std::int64_t count, float first) {
  Tensor scales = Tensor::allocate(DType::f32, {count});
  float value = first;
  for (float& scale : scales.as_mutable<float>()) scale = value += 0.001F;
  return scales;
}

/// A network in the making: an f32 input, whose codes every layer reads.
class Network {
 public:
  explicit Network(const Shape& shape) : to_(graph_, "t") {
    graph_.name = "codes";
    graph_.opset = 13;
    GraphTensor tensor;
    tensor.name = "x";
    tensor.kind = GraphTensor::Kind::input;
    tensor.shape = shape;
    const TensorId x = graph_.add_tensor(std::move(tensor));
    graph_.inputs.push_back(x);
    codes_ = coded(x, 0.02, 120);
  }
  ops::GraphWriter& to() { return to_; }
  TensorId coded(TensorId value, double scale, double zero) {
    return to_.add("QuantizeLinear",
                   {value, to_.scalar(DType::f32, scale), to_.scalar(DType::u8, zero)});
  }
  TensorId decoded(TensorId codes, double scale, double zero) {
    return to_.add("DequantizeLinear",
                   {codes, to_.scalar(DType::f32, scale), to_.scalar(DType::u8, zero)});
  }
  TensorId x() { return decoded(codes_, 0.02, 120); }
  /// Weights in steps for each line along `axis`.
  TensorId weights(const Shape& shape, std::int64_t axis) {
    const TensorId codes = to_.constant(i8_weights(shape));
    const TensorId scale = to_.constant(steps(shape[static_cast<std::size_t>(axis)], 0.003F));
    return to_.add("DequantizeLinear", {codes, scale}, {{"axis", axis}});
  }
  Graph finish(TensorId output) {
    graph_.outputs = {output};
    verify(graph_, "made");
    return graph_;
  }

 private:
  Graph graph_;
  ops::GraphWriter to_;
  TensorId codes_ = kNoTensor;
};

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

std::vector<double> output_of(const Graph& graph) {
  const GraphTensor& x = graph.tensor(graph.inputs[0]);
  const std::vector<NamedTensor> inputs{{x.name, test::random_tensor(x.shape, 7)}};
  return test::reference_outputs(graph, inputs)[0].value;
}

/// The graph in codes; its output differs from what it was by at most `most`.
Graph in_codes(Graph graph, double most) {
  const std::vector<double> want = output_of(graph);
  EXPECT_EQ(compute_in_codes(graph, {}), 1);
  verify(graph, "in codes");
  const std::vector<double> got = output_of(graph);
  EXPECT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    EXPECT_NEAR(got[i], want[i], most) << i;
  }
  return graph;
}

TEST(ComputeInCodes, AConvolutionThatBecomesCodesIsQLinearConv) {
  for (const bool relu : {false, true}) {
    Network network({1, 3, 5, 7});
    TensorId y = network.to().add("Conv", {network.x(), network.weights({4, 3, 3, 3}, 0)},
                                  {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
    if (relu) y = network.to().add("Relu", {y});
    // A sum between two codes may go to either.
    const Graph graph = in_codes(network.finish(network.coded(y, 0.05, 100)), 1.0);
    EXPECT_THAT(names_of(graph), Contains("QLinearConv"));
    EXPECT_THAT(names_of(graph), Not(Contains("Conv")));
    EXPECT_THAT(names_of(graph), Not(Contains("DequantizeLinear")));
  }
}

TEST(ComputeInCodes, AnotherConvolutionIsScaledBehindItsSums) {
  Network network({2, 3, 5, 7});
  const TensorId bias = network.to().constant(test::random_tensor({4}, 3));
  const TensorId y =
      network.to().add("Conv", {network.x(), network.weights({4, 3, 3, 3}, 0), bias});
  const Graph graph = in_codes(network.finish(y), 1e-4);
  EXPECT_THAT(names_of(graph), Contains("ConvInteger"));
}

TEST(ComputeInCodes, ABiasThatSumsWithItMayNotHoldStaysReal) {
  for (const std::int32_t code : {1000, 2147483647}) {
    Network network({1, 3, 5, 7});
    const TensorId weights = network.weights({1, 3, 1, 1}, 0);
    Tensor codes = Tensor::allocate(DType::i32, {1});
    codes.set(0, code);
    const TensorId step = network.to().constant(steps(1, 0.02F * 0.004F - 0.001F));
    const TensorId bias =
        network.to().add("DequantizeLinear", {network.to().constant(std::move(codes)), step});
    const TensorId y = network.to().add("Conv", {network.x(), weights, bias});
    const Graph graph = in_codes(network.finish(network.coded(y, 0.05, 100)), 1.0);
    const auto names = names_of(graph);
    EXPECT_EQ(std::ranges::count(names, "QLinearConv"), code == 1000 ? 1 : 0);
  }
}

TEST(ComputeInCodes, ProductsAreScaledBehindTheirSums) {
  Network network({3, 17});
  const Graph product = in_codes(
      network.finish(network.to().add("MatMul", {network.x(), network.weights({17, 5}, 1)})), 1e-4);
  EXPECT_THAT(names_of(product), Contains("MatMulInteger"));
  Network turned({3, 17});
  const TensorId bias = turned.to().constant(test::random_tensor({5}, 3));
  const TensorId y = turned.to().add("Gemm", {turned.x(), turned.weights({5, 17}, 0), bias},
                                     {{"transB", std::int64_t{1}}});
  EXPECT_THAT(names_of(in_codes(turned.finish(y), 1e-4)), Contains("MatMulInteger"));
}

TEST(ComputeInCodes, NotWhereScalesAreOfInputsOrSumsMayNotFit) {
  Network along({3, 17});
  Graph graph = along.finish(along.to().add("MatMul", {along.x(), along.weights({17, 5}, 0)}));
  EXPECT_EQ(compute_in_codes(graph, {}), 0);
  Network long_one({1, 40000});
  Graph sums =
      long_one.finish(long_one.to().add("MatMul", {long_one.x(), long_one.weights({40000, 1}, 1)}));
  EXPECT_EQ(compute_in_codes(sums, {}), 0);
}

TEST(FuseEpilogues, OfTwoSumsThatAreAddedTheFirstIsStoredAsCodes) {
  // The branches of a residual block, in either order of the addition.
  for (const bool turned : {false, true}) {
    Network network({1, 3, 5, 7});
    std::vector<TensorId> branches;
    for (const std::int64_t size : {1, 3}) {
      const std::vector<std::int64_t> pads(4, size / 2);
      const TensorId weights = network.weights({4, 3, size, size}, 0);
      const TensorId y = network.to().add("Conv", {network.x(), weights}, {{"pads", pads}});
      branches.push_back(network.decoded(network.coded(y, 0.05, 120), 0.05, 120));
    }
    if (turned) std::swap(branches[0], branches[1]);
    const TensorId sum = network.to().add("Add", branches);
    Graph graph = network.finish(network.coded(sum, 0.1, 110));
    Graph apart = graph;
    run_passes(apart, {.skip = {"fuse_epilogues"}});
    run_passes(graph, {});
    EXPECT_EQ(output_of(graph), output_of(apart));
    std::vector<DType> stored;
    for (const Node& node : graph.nodes) {
      if (node.op == "BorderedConvInteger") stored.push_back(graph.tensor(node.outputs[0]).dtype);
    }
    EXPECT_THAT(stored, testing::ElementsAre(DType::u8, DType::u8));
  }
}

TEST(FuseEpilogues, ACodedGateIsDecodedWhereItIsComputed) {
  // The product has more elements than the gate, so it cannot join what makes numbers of the gate's
  // codes, and that is no launch of its own.
  Network network({1, 16, 14, 14});
  const auto convolved = [&](TensorId x, std::int64_t size) {
    const std::vector<std::int64_t> pads(4, size / 2);
    const TensorId weights = network.weights({16, 16, size, size}, 0);
    const TensorId y = network.to().add("Conv", {x, weights}, {{"pads", pads}});
    return network.decoded(network.coded(y, 0.05, 120), 0.05, 120);
  };
  const TensorId body = convolved(network.x(), 3);
  const TensorId mean = network.to().add("GlobalAveragePool", {body});
  const TensorId gate = convolved(network.decoded(network.coded(mean, 0.02, 120), 0.02, 120), 1);
  const TensorId product = network.to().add("Mul", {gate, body});
  Graph graph = network.finish(network.coded(product, 0.1, 110));
  run_passes(graph, {});
  std::vector<Shape> decoded;
  for (const Node& node : graph.nodes) {
    const bool reads_codes = graph.tensor(node.inputs[0]).dtype == DType::u8;
    if (node.op == "Chain" && reads_codes) decoded.push_back(graph.tensor(node.outputs[0]).shape);
  }
  EXPECT_EQ(std::ranges::count(decoded, Shape{1, 16, 1, 1}), 0);
}

TEST(PartDecoding, EachElementwiseReaderHasItsOwn) {
  Network network({3, 17});
  const TensorId x = network.x();
  const TensorId y = network.to().add("Add", {network.to().add("Relu", {x}), x});
  Graph graph = network.finish(y);
  const std::vector<double> want = output_of(graph);
  expand_composites(graph, {});
  EXPECT_EQ(part_decoding(graph, {}), 1);
  verify(graph, "parted");
  EXPECT_EQ(output_of(graph), want);
  EXPECT_EQ(part_decoding(graph, {}), 0);
}

}  // namespace
}  // namespace morton::test
