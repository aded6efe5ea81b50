// SPDX-License-Identifier: Apache-2.0
//
// Values that are known at planning: shapes, and arithmetic on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "ops/core/planned.hpp"
#include "passes/pipeline.hpp"
#include "support/rooms.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kLargest = 9223372036854775807;

/// A network in a few lines; every node's output has its name.
struct Net {
  Graph graph;

  Net() { graph.name = "planned"; }

  TensorId input(const std::string& name, std::vector<Dimension> extents, DType type) {
    GraphTensor tensor;
    tensor.name = name;
    tensor.dtype = type;
    tensor.kind = GraphTensor::Kind::input;
    tensor.declared = std::move(extents);
    graph.inputs.push_back(graph.add_tensor(std::move(tensor)));
    return graph.inputs.back();
  }
  TensorId list(const std::vector<std::int64_t>& values) {
    GraphTensor tensor;
    tensor.name = "list" + std::to_string(graph.tensors.size());
    tensor.kind = GraphTensor::Kind::constant;
    tensor.data = Tensor::from({static_cast<std::int64_t>(values.size())}, values);
    tensor.dtype = DType::i64;
    tensor.shape = tensor.data.shape();
    return graph.add_tensor(std::move(tensor));
  }
  TensorId node(const std::string& op, const std::vector<TensorId>& inputs,
                const std::map<std::string, Attribute>& attributes = {}) {
    Node made;
    made.op = op;
    made.name = op + std::to_string(graph.nodes.size());
    made.inputs = inputs;
    made.attributes = attributes;
    made.outputs = {graph.add_tensor({.name = made.name})};
    graph.nodes.push_back(made);
    return made.outputs[0];
  }
  const GraphTensor& result(const PassOptions& options = {}) {
    run_passes(graph, options);
    return graph.tensor(graph.outputs[0]);
  }
};

/// x [batch, 3, 5] -> Reshape to [batch, 15], the batch taken from x's own shape.
Net flattening() {
  Net net;
  const TensorId x = net.input("x", {{0, "batch"}, {3, ""}, {5, ""}}, DType::f32);
  const TensorId shape = net.node("Shape", {x});
  const TensorId batch = net.node("Gather", {shape, net.list({0})});
  const TensorId whole = net.node("Concat", {batch, net.list({-1})}, {{"axis", std::int64_t{0}}});
  net.graph.outputs = {net.node("Reshape", {x, whole})};
  return net;
}

TEST(PlannedValues, ShapesFollowFromShapes) {
  for (const std::int64_t batch : {1, 3, 17}) {
    Net net = flattening();
    PassOptions options;
    options.batch = batch;
    EXPECT_THAT(net.result(options).shape, ElementsAre(batch, 15));
    EXPECT_EQ(net.graph.nodes.size(), 1);
  }
}

TEST(PlannedValues, LargestNumbersStayExact) {
  Net net;
  const TensorId x = net.input("x", {{3, ""}, {17, ""}}, DType::f32);
  const TensorId ends =
      net.node("Concat", {net.list({2}), net.list({kLargest})}, {{"axis", std::int64_t{0}}});
  net.graph.outputs = {net.node("Slice", {x, net.list({1, 4}), ends})};
  EXPECT_THAT(net.result().shape, ElementsAre(1, 13));
}

Net given_shape() {
  Net net;
  const TensorId x = net.input("x", {{3, ""}, {5, ""}}, DType::f32);
  const TensorId shape = net.input("shape", {{2, ""}}, DType::i64);
  net.graph.outputs = {net.node("Reshape", {x, shape})};
  return net;
}

TEST(PlannedValues, InputsGiveThem) {
  Net net = given_shape();
  EXPECT_THAT(planned_graph_inputs(net.graph), ElementsAre(TensorId(1)));
  PassOptions options;
  options.values["shape"] = Tensor::from({2}, std::vector<std::int64_t>{5, -1});
  options.values["x"] = Tensor::allocate(DType::f32, {3, 5});
  EXPECT_THAT(net.result(options).shape, ElementsAre(5, 3));
  EXPECT_EQ(net.graph.tensor(TensorId(0)).planned(), nullptr) << "no shape follows from x";
}

TEST(PlannedValues, SaysWhichInputIsMissing) {
  Net net = given_shape();
  try {
    (void)net.result();
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("follows from 'shape'"));
  }
}

TEST(PlannedValues, RefusesValuesThatDoNotFit) {
  Net net = given_shape();
  PassOptions options;
  options.values["shape"] = Tensor::from({1}, std::vector<std::int64_t>{15});
  EXPECT_THROW((void)net.result(options), UsageError);
  Net other = given_shape();
  options.values = {{"shapes", Tensor::from({2}, std::vector<std::int64_t>{5, -1})}};
  EXPECT_THROW((void)other.result(options), UsageError);
}

TEST(PlannedValues, OfTheTensorThatCastLikeFollowsTheTypeIsEnough) {
  Net net;
  net.graph.opset = 15;
  const TensorId x = net.input("x", {{3, ""}, {17, ""}}, DType::f32);
  const TensorId filler = net.node("CastLike", {net.list({7}), net.node("Identity", {x})});
  const TensorId number = net.node("Reshape", {filler, net.list({})});
  net.graph.outputs = {net.node("Pad", {x, net.list({1, 0, 0, 2}), number})};
  EXPECT_THAT(planned_graph_inputs(net.graph), ElementsAre());
  EXPECT_THAT(net.result().shape, ElementsAre(4, 19));
  EXPECT_EQ(net.graph.nodes.size(), 1);
}

TEST(PlannedValues, TensorsWithoutElementsAreKnown) {
  Net net;
  const TensorId x = net.input("x", {{3, ""}, {17, ""}}, DType::f32);
  const TensorId none = net.node("Slice", {x, net.list({2}), net.list({2}), net.list({1})});
  net.graph.outputs = {net.node("Concat", {x, none}, {{"axis", std::int64_t{1}}})};
  EXPECT_THAT(net.result().shape, ElementsAre(3, 17));
  EXPECT_EQ(net.graph.nodes.size(), 1);
}

/// NonZero finds 6 places at most, and 5 in a run that fits.
TEST(PlannedValues, WhatMayFitIsNotRefusedBeforeARun) {
  Net net;
  const TensorId x = net.input("x", {{2, ""}, {3, ""}}, DType::f32);
  const TensorId five = net.input("five", {{2, ""}, {5, ""}}, DType::i64);
  net.graph.outputs = {net.node("Add", {net.node("NonZero", {x}), five})};
  const auto error = thrown<NeedsSegments>([&] { (void)net.result(); });
  EXPECT_EQ(error.waiting_node(), "Add1");
  EXPECT_THAT(error.what(), HasSubstr("shapes 2x6 and 2x5 do not broadcast"));
}

}  // namespace
}  // namespace morton::test
