// SPDX-License-Identifier: Apache-2.0
//
// What halves and newer operator sets do not hold.
#include <gmock/gmock.h>

#include <set>

#include "passes/conversion/conversion.hpp"
#include "passes/conversion/element_types.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/sketch.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kF32 = 1, kI64 = 7;

Tensor real(float value) { return Tensor::from({}, std::vector<float>{value}); }

std::vector<std::string> kept_of(const passes::HalvesReport& report) {
  std::vector<std::string> kept;
  for (const auto& node : report.in_float) kept.push_back(node.node + ": " + node.why);
  return kept;
}

TEST(PassesConversionLimits, IndicesThatAreRealForAWhileStayInF32) {
  // Place 9999 in rows of 100 is row 99, and as a half 10000: row 100.
  Graph graph = Sketch()
                    .input("places", {4}, DType::i64)
                    .input("ids", {4})
                    .constant("width", real(100.0F))
                    .node("Cast", {"places"}, {"real"}, {{"to", kF32}})
                    .node("Div", {"real", "width"}, {"share"})
                    .node("Floor", {"share"}, {"whole"})
                    .node("Cast", {"whole"}, {"row"}, {{"to", kI64}})
                    .node("Cast", {"ids"}, {"id"}, {{"to", kI64}})
                    .node("Sqrt", {"real"}, {"root"})
                    .node("Exp", {"ids"}, {"power"})
                    .graph({"row", "id", "root", "power"});
  const std::vector<NamedTensor> inputs{
      {"places", Tensor::from({4}, std::vector<std::int64_t>{9999, 2049, 99, 0})},
      {"ids", Tensor::from({4}, std::vector<float>{70001, 2049, 1, 0})}};
  const auto before = reference_outputs(with_shapes(graph, 0), inputs);
  const auto report = passes::make_halves(graph, {});
  EXPECT_THAT(kept_of(report),
              ElementsAre("Cast_0: whole numbers as f32", "Div_1: whole numbers as f32",
                          "Floor_2: whole numbers as f32", "Cast_3: whole numbers as f32",
                          "Cast_4: whole numbers as f32"));
  EXPECT_EQ(report.half_nodes, 2);
  const auto after = reference_outputs(with_shapes(graph, 0), inputs);
  EXPECT_EQ(after[0].value, before[0].value);
  EXPECT_EQ(after[0].value[0], 99.0);
  EXPECT_EQ(after[1].value, before[1].value);
}

TEST(PassesConversionLimits, WhatANetworkComputesIsNoIndex) {
  Graph graph = Sketch()
                    .input("x", {2, 2})
                    .node("MatMul", {"x", "x"}, {"y"})
                    .node("Sigmoid", {"y"}, {"share"})
                    .node("Cast", {"share"}, {"mask"}, {{"to", kI64}})
                    .node("Identity", {"mask"}, {"out"})
                    .graph({"out"});
  EXPECT_THAT(passes::make_halves(graph, {}).in_float, ElementsAre());
}

TEST(PassesConversionLimits, RepeatedNumbersBeyondHalvesBecomeTheLargest) {
  Tensor most = Tensor::allocate(DType::f32, {1});
  most.set(0, -3e38);
  Graph graph = Sketch()
                    .input("x", {2, 3})
                    .node("Shape", {"x"}, {"shape"})
                    .node("ConstantOfShape", {"shape"}, {"least"}, {{"value", most}})
                    .node("Max", {"x", "least"}, {"y"})
                    .node("Relu", {"y"}, {"z"})
                    .graph({"z"});
  const auto report = passes::make_halves(graph, {});
  EXPECT_THAT(report.in_float, ElementsAre());
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes[0].print(), HasSubstr("beyond the range of f16"));
  EXPECT_EQ(std::get<Tensor>(graph.nodes[1].attributes.at("value")).at(0), -65504.0);
}

std::string refusal(Graph graph, std::int64_t from, std::int64_t to) {
  graph.opset = from;
  return thrown<UnsupportedError>([&] { passes::raise_opset(graph, to, {}); }).what();
}

TEST(PassesConversionLimits, FormsThatMortonDoesNotReadAreNotRaised) {
  const Graph cast = Sketch()
                         .input("x", {2})
                         .node("Cast", {"x"}, {"y"}, {{"to", std::string("INT32")}})
                         .graph({"y"});
  EXPECT_THAT(refusal(cast, 5, 13), HasSubstr("its form of opset 5 is not known"));
  const Graph slopes = Sketch()
                           .input("x", {1, 3, 2, 2})
                           .constant("slope", Tensor::allocate(DType::f32, {3}))
                           .node("PRelu", {"x", "slope"}, {"y"})
                           .graph({"y"});
  EXPECT_THAT(refusal(slopes, 6, 7), HasSubstr("PRelu_0"));
  const Graph dropout = Sketch()
                            .input("x", {2})
                            .node("Dropout", {"x"}, {"y"}, {{"is_test", std::int64_t{0}}})
                            .graph({"y"});
  EXPECT_THAT(refusal(dropout, 6, 12), HasSubstr("Dropout_0"));
  // That of Add is known, and Relu's is the same since version 6.
  Graph known = Sketch()
                    .input("x", {2, 3})
                    .constant("one", real(1.0F))
                    .node("Relu", {"x"}, {"r"})
                    .node("Add", {"r", "one"}, {"y"}, {{"broadcast", std::int64_t{1}}})
                    .graph({"y"});
  known.opset = 6;
  passes::raise_opset(known, 13, {});
  EXPECT_TRUE(known.nodes[1].attributes.empty());
}

TEST(PassesConversionLimits, NamesInBodiesAreOthersThanOutside) {
  const std::map<std::string, Attribute> axes{{"axes", std::vector<std::int64_t>{0}}};
  const auto branch = [&](const std::string& result) {
    return Sketch().formal("x").node("ReduceMax", {"x"}, {result}, axes).body({result}, 1);
  };
  // The body's node and the first one outside are both called ReduceMax_0.
  Graph graph = Sketch()
                    .input("x", {2, 3})
                    .input("c", {}, DType::boolean)
                    .node("ReduceMax", {"x"}, {"s"}, axes)
                    .node("If", {"c", "x", "x"}, {"y"}, {},
                          {{"then_branch", branch("a")}, {"else_branch", branch("b")}})
                    .graph({"s", "y"});
  passes::raise_opset(graph, 18, {});
  std::set<std::string> names{graph.tensor(graph.nodes[0].inputs[1]).name};
  const Node& node = graph.nodes[1];
  for (const auto& [name, body] : node.bodies) {
    const Graph& inside = *body.graph;
    names.insert(inside.tensor(inside.nodes[0].inputs[1]).name);
  }
  EXPECT_EQ(names.size(), 3U) << ::testing::PrintToString(names);
}

TEST(PassesConversionLimits, PlacesOfTensorFlowsResize) {
  const auto resize = [](const std::string& rounding, const std::vector<float>& scales) {
    Graph graph =
        Sketch()
            .input("x", {1, 1, 5, 7})
            .constant("scales", Tensor::from({4}, scales))
            .node("Resize", {"x", "", "scales"}, {"y"},
                  {{"mode", std::string("nearest")},
                   {"nearest_mode", rounding},
                   {"coordinate_transformation_mode", std::string("tf_half_pixel_for_nn")}})
            .graph({"y"});
    graph.opset = 11;
    return graph;
  };
  const std::vector<NamedTensor> inputs{{"x", random_tensor({1, 1, 5, 7}, 3)}};
  for (const std::vector<float>& scales :
       std::vector<std::vector<float>>{{1, 1, 2, 1.5F}, {1, 1, 0.6F, 0.5F}, {1, 1, 3, 0.7F}}) {
    Graph graph = resize("floor", scales);
    const auto before = reference_outputs(with_shapes(graph, 0), inputs);
    passes::raise_opset(graph, 18, {});
    EXPECT_EQ(std::get<std::string>(graph.nodes[0].attributes.at("coordinate_transformation_mode")),
              "half_pixel");
    EXPECT_EQ(reference_outputs(with_shapes(graph, 0), inputs)[0].value, before[0].value);
  }
  EXPECT_THAT(refusal(resize("ceil", {1, 1, 2, 2}), 11, 18), HasSubstr("tf_half_pixel_for_nn"));
}

}  // namespace
}  // namespace morton::test
