// SPDX-License-Identifier: Apache-2.0
//
// Control flow and lists of tensors, written out while shapes are inferred.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "passes/passes.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"
#include "support/sketch.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> operators_left(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

/// The first output's values where the inputs have these.
std::vector<double> values_of(Graph graph, const std::vector<std::vector<float>>& inputs) {
  infer_shapes(graph, {});
  verify(graph, "written out");
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const GraphTensor& tensor = graph.tensor(graph.inputs[i]);
    tensors.push_back({tensor.name, Tensor::allocate(tensor.dtype, tensor.shape)});
    for (std::size_t e = 0; e < inputs[i].size(); ++e) {
      tensors.back().tensor.set(static_cast<std::int64_t>(e), static_cast<double>(inputs[i][e]));
    }
  }
  return reference_outputs(graph, tensors)[0].value;
}

template <typename Expected>
std::string complaint_of(Graph& graph) {
  return thrown<Expected>([&] { infer_shapes(graph, {}); }).what();
}

/// then: x + x, else: -x.
std::map<std::string, Body> branches() {
  return {{"then_branch", Sketch().formal("x").node("Add", {"x", "x"}, {"y"}).body({"y"}, 1)},
          {"else_branch", Sketch().formal("x").node("Neg", {"x"}, {"y"}).body({"y"}, 1)}};
}

TEST(ControlFlow, AnIfWhoseConditionIsKnownIsItsBranch) {
  for (const bool is_true : {true, false}) {
    Graph graph = Sketch()
                      .input("x", {2})
                      .truth("c", is_true)
                      .node("If", {"c", "x", "x"}, {"y"}, {}, branches())
                      .graph({"y"});
    EXPECT_THAT(values_of(graph, {{3, 4}}), is_true ? ElementsAre(6, 8) : ElementsAre(-3, -4));
    infer_shapes(graph, {});
    EXPECT_THAT(operators_left(graph), ElementsAre(is_true ? "Add" : "Neg", "Identity"));
  }
}

TEST(ControlFlow, AnIfWhoseConditionIsDataComputesBothAndChooses) {
  const Graph graph = Sketch()
                          .input("x", {2})
                          .input("c", {1}, DType::boolean)
                          .node("If", {"c", "x", "x"}, {"y"}, {}, branches())
                          .graph({"y"});
  EXPECT_THAT(values_of(graph, {{3, 4}, {1}}), ElementsAre(6, 8));
  EXPECT_THAT(values_of(graph, {{3, 4}, {0}}), ElementsAre(-3, -4));
}

TEST(ControlFlow, BranchesOfOtherShapesNeedAKnownCondition) {
  auto unlike = branches();
  unlike["else_branch"] = Sketch().formal("x").node("ReduceSum", {"x"}, {"y"}).body({"y"}, 1);
  Graph graph = Sketch()
                    .input("x", {2})
                    .input("c", {}, DType::boolean)
                    .node("If", {"c", "x", "x"}, {"y"}, {}, unlike)
                    .graph({"y"});
  EXPECT_THAT(complaint_of<UnsupportedError>(graph),
              HasSubstr("follows from data, and its branches give 2 and 1"));
}

/// A turn: s becomes s * s + x, and is shown.
Body squares(const std::string& condition) {
  Sketch sketch;
  sketch.formal("i").formal("c").formal("s").formal("x");
  sketch.node("Mul", {"s", "s"}, {"p"}).node("Add", {"p", "x"}, {"t"}).whole("two", 2);
  sketch.node("Less", {"i", "two"}, {"early"}).node("Identity", {"c"}, {"same"});
  return sketch.body({condition, "t", "t"}, 1);
}

TEST(ControlFlow, ALoopIsItsTurns) {
  const Graph graph =
      Sketch()
          .input("x", {1})
          .input("s", {1})
          .whole("m", 3)
          .node("Loop", {"m", "", "s", "x"}, {"last", "all"}, {}, {{"body", squares("same")}})
          .graph({"all", "last"});
  EXPECT_THAT(values_of(graph, {{1}, {2}}), ElementsAre(5, 26, 677));
}

TEST(ControlFlow, ALoopEndsWhereItsConditionDoes) {
  // The condition of turn 2, which is computed from its number, is false: three turns.
  const Graph graph =
      Sketch()
          .input("x", {1})
          .input("s", {1})
          .truth("yes", true)
          .node("Loop", {"", "yes", "s", "x"}, {"last"}, {}, {{"body", squares("early")}})
          .graph({"last"});
  EXPECT_THAT(values_of(graph, {{1}, {2}}), ElementsAre(677));
}

TEST(ControlFlow, ALoopWithoutAnEndIsRefused) {
  Graph graph = Sketch()
                    .input("x", {1})
                    .input("s", {1})
                    .truth("yes", true)
                    .node("Loop", {"", "yes", "s", "x"}, {"last"}, {}, {{"body", squares("same")}})
                    .graph({"last"});
  EXPECT_THAT(complaint_of<UnsupportedError>(graph),
              HasSubstr("the model's loops take more than 10000 turns"));
}

TEST(ControlFlow, ALoopWhoseConditionIsDataIsRefused) {
  Sketch turn;
  turn.formal("i").formal("c").formal("s").node("Neg", {"s"}, {"t"});
  turn.constant("zero", Tensor::allocate(DType::f32, {})).node("Less", {"t", "zero"}, {"more"});
  Graph graph =
      Sketch()
          .input("s", {})
          .whole("m", 5)
          .node("Loop", {"m", "", "s"}, {"last"}, {}, {{"body", turn.body({"more", "t"}, 0)}})
          .graph({"last"});
  EXPECT_THAT(complaint_of<UnsupportedError>(graph),
              HasSubstr("whether it goes on follows from data"));
}

TEST(ControlFlow, AScanGoesAlongItsInput) {
  Sketch turn;
  turn.formal("s").formal("e").node("Add", {"s", "e"}, {"t"});
  const Body body = turn.body({"t", "t"}, 0);
  const auto scanned = [&](std::int64_t from_back) {
    return Sketch()
        .input("s", {1})
        .input("x", {3, 1})
        .node("Scan", {"s", "x"}, {"last", "all"},
              {{"num_scan_inputs", std::int64_t{1}},
               {"scan_input_directions", std::vector<std::int64_t>{from_back}},
               {"scan_output_directions", std::vector<std::int64_t>{from_back}}},
              {{"body", body}})
        .graph({"all", "last"});
  };
  EXPECT_THAT(values_of(scanned(0), {{10}, {1, 2, 3}}), ElementsAre(11, 13, 16));
  EXPECT_THAT(values_of(scanned(1), {{10}, {1, 2, 3}}), ElementsAre(16, 15, 13));
}

TEST(ControlFlow, ConstantsOfABodyAreThereOnce) {
  Sketch turn;
  turn.formal("i").formal("c").formal("s");
  turn.constant("w", Tensor::allocate(DType::f32, {4})).node("Add", {"s", "w"}, {"t"});
  turn.node("Identity", {"c"}, {"same"});
  Graph graph =
      Sketch()
          .input("s", {4})
          .whole("m", 5)
          .node("Loop", {"m", "", "s"}, {"last"}, {}, {{"body", turn.body({"same", "t"}, 0)}})
          .graph({"last"});
  infer_shapes(graph, {});
  const auto constants = std::ranges::count_if(graph.tensors, [](const GraphTensor& tensor) {
    return tensor.kind == GraphTensor::Kind::constant && tensor.shape == Shape{4};
  });
  EXPECT_EQ(constants, 1);
}

TEST(ControlFlow, ListsAreGoneWhereTheirPlacesAreKnown) {
  Graph graph = Sketch()
                    .input("x", {2, 3})
                    .whole("one", 1)
                    .node("SplitToSequence", {"x"}, {"rows"}, {{"keepdims", std::int64_t{0}}})
                    .node("SequenceAt", {"rows", "one"}, {"row"})
                    .node("SequenceInsert", {"rows", "row"}, {"longer"})
                    .node("SequenceErase", {"longer"}, {"shorter"})
                    .node("SequenceLength", {"longer"}, {"length"})
                    .node("ConcatFromSequence", {"longer"}, {"y"}, {{"axis", std::int64_t{0}}})
                    .graph({"y", "length"});
  EXPECT_THAT(values_of(graph, {{1, 2, 3, 4, 5, 6}}), ElementsAre(1, 2, 3, 4, 5, 6, 4, 5, 6));
  infer_shapes(graph, {});
  EXPECT_THAT(operators_left(graph), Not(Contains(HasSubstr("Sequence"))));
}

TEST(ControlFlow, PlacesFromTheBackAreThoseOfTheListAsItIs) {
  Graph graph = Sketch()
                    .input("x", {1})
                    .input("y", {1})
                    .input("z", {1})
                    .whole("last", -1)
                    .node("SequenceConstruct", {"x", "y"}, {"list"})
                    .node("SequenceInsert", {"list", "z", "last"}, {"longer"})
                    .node("ConcatFromSequence", {"longer"}, {"all"}, {{"axis", std::int64_t{0}}})
                    .graph({"all"});
  EXPECT_THAT(values_of(graph, {{1}, {2}, {3}}), ElementsAre(1, 3, 2));
}

TEST(ControlFlow, PartsThatDoNotAddUpAreNamed) {
  const std::vector<std::int64_t> two{2};
  Graph graph = Sketch()
                    .input("x", {3})
                    .constant("parts", Tensor::from({1}, std::span<const std::int64_t>(two)))
                    .node("SplitToSequence", {"x", "parts"}, {"list"})
                    .node("SequenceLength", {"list"}, {"y"})
                    .graph({"y"});
  EXPECT_THAT(complaint_of<ModelError>(graph), HasSubstr("its parts are not 3 elements together"));
}

TEST(ControlFlow, AListOfListsIsNoOutput) {
  Graph graph = Sketch()
                    .input("x", {2})
                    .node("SequenceConstruct", {"x", "x"}, {"list"})
                    .node("SequenceConstruct", {"x", "list"}, {"lists"})
                    .graph({"lists"});
  EXPECT_THAT(complaint_of<UnsupportedError>(graph),
              HasSubstr("output 'lists[1]' of the list 'lists' is no tensor"));
}

TEST(ControlFlow, AScanOfOperatorSet8GoesOverABatch) {
  // The state is the sum so far; each turn gives it back.
  const Body sum = Sketch()
                       .formal("s")
                       .formal("e")
                       .node("Add", {"s", "e"}, {"t"})
                       .node("Identity", {"t"}, {"r"})
                       .body({"t", "r"}, 0);
  const auto scan = [&](const std::vector<std::int64_t>& directions) {
    Sketch sketch;
    sketch.input("s", {2, 1}).input("x", {2, 3, 1});
    sketch.node("Scan", {"", "s", "x"}, {"last", "all"},
                {{"num_scan_inputs", std::int64_t{1}}, {"directions", directions}},
                {{"body", sum}});
    return sketch;
  };
  const std::vector<std::vector<float>> inputs{{0, 100}, {1, 2, 3, 4, 5, 6}};
  Graph forwards = scan({0}).graph({"all"});
  forwards.opset = 8;
  EXPECT_THAT(values_of(forwards, inputs), ElementsAre(1, 3, 6, 104, 109, 115));
  Graph backwards = scan({1}).graph({"all"});
  backwards.opset = 8;
  EXPECT_THAT(values_of(backwards, inputs), ElementsAre(3, 5, 6, 106, 111, 115));
  Graph later = scan({0}).graph({"all"});
  later.opset = 9;
  EXPECT_THAT(complaint_of<ModelError>(later), HasSubstr("Scan"));
}

TEST(ControlFlow, AScanWithLengthsOfSequencesIsRefused) {
  const Body same = Sketch().formal("e").node("Neg", {"e"}, {"t"}).body({"t"}, 0);
  Graph graph = Sketch()
                    .input("lengths", {2}, DType::i64)
                    .input("x", {2, 3})
                    .node("Scan", {"lengths", "x"}, {"y"}, {{"num_scan_inputs", std::int64_t{1}}},
                          {{"body", same}})
                    .graph({"y"});
  graph.opset = 8;
  EXPECT_THAT(complaint_of<UnsupportedError>(graph), HasSubstr("lengths of their own"));
}

TEST(ControlFlow, APlaceBesideAListIsNamed) {
  Graph graph = Sketch()
                    .input("x", {2})
                    .whole("p", 2)
                    .node("SequenceConstruct", {"x", "x"}, {"list"})
                    .node("SequenceAt", {"list", "p"}, {"y"})
                    .graph({"y"});
  EXPECT_THAT(complaint_of<ModelError>(graph),
              HasSubstr("its place is 2, the list has 2 elements"));
}

}  // namespace
}  // namespace morton::test
