// SPDX-License-Identifier: Apache-2.0
//
// Models that have no plan as a whole: cut into segments, and loops that the host counts.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>

#include "model/model_check.hpp"
#include "support/devices.hpp"
#include "support/sketch.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ModelSegments : public ModelTest {
 protected:
  SegmentedSession session(Graph graph, const SegmentOptions& limits = {}) {
    return {to_model(std::move(graph)), device(), {}, limits};
  }
};
MORTON_MODELS_ON_EVERY_DEVICE(ModelSegments);

Tensor row(const std::vector<float>& values) {
  return Tensor::from({1, static_cast<std::int64_t>(values.size())}, values);
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.at(i));
  return values;
}

std::vector<double> answer(SegmentedSession& session, const std::string& name,
                           const Tensor& value) {
  return values_of(session.run(std::vector<NamedTensor>{{name, value}}).at(0).tensor);
}

Tensor real(float value) { return Tensor::from({}, std::vector<float>{value}); }

/// A turn: s becomes s + s; the loop goes on while its sum is below 30. Each turn shows -s.
Body doubling() {
  Sketch sketch;
  sketch.formal("i").formal("c").formal("s").constant("limit", real(30));
  sketch.node("Add", {"s", "s"}, {"t"})
      .node("ReduceSum", {"t"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  return sketch.node("Less", {"sum", "limit"}, {"on"})
      .node("Neg", {"t"}, {"shown"})
      .body({"on", "t", "shown"}, 0);
}

/// y: 10 times what `doubling` makes of relu(x).
Graph doubling_loop() {
  return Sketch()
      .input("x", {1, 2})
      .constant("ten", real(10))
      .node("Relu", {"x"}, {"s"})
      .node("Loop", {"", "", "s"}, {"last", "all"}, {}, {{"body", doubling()}})
      .node("Mul", {"last", "ten"}, {"y"})
      .graph({"y", "all"});
}

TEST_P(ModelSegments, AConditionThatIsDataEndsALoop) {
  SegmentedSession segments = session(doubling_loop());
  const auto outputs = segments.run(std::vector<NamedTensor>{{"x", row({1, 4})}});
  ASSERT_THAT(outputs, SizeIs(2));
  EXPECT_THAT(values_of(outputs[0].tensor), ElementsAre(80, 320));
  EXPECT_EQ(outputs[1].tensor.shape(), (Shape{3, 1, 2}));
  EXPECT_THAT(values_of(outputs[1].tensor), ElementsAre(-2, -8, -4, -16, -8, -32));
  const SegmentsReport first = segments.report();
  ASSERT_THAT(first.waits, SizeIs(1));
  EXPECT_EQ(first.waits[0].node, "Loop_1");
  EXPECT_EQ(first.waits[0].times, 3);
  EXPECT_EQ(first.plans, 3);
  EXPECT_THAT(answer(segments, "x", row({100, -1})), ElementsAre(2000, 0));
  EXPECT_EQ(segments.report().waits[0].times, 1);
  EXPECT_EQ(segments.report().plans, 0);
  EXPECT_EQ(segments.report().built_kernels, 0);
}

TEST_P(ModelSegments, AStrictModelDoesNotWait) {
  CompileOptions strict;
  strict.fallback = CompileOptions::Fallback::refuse;
  SegmentedSession segments(to_model(doubling_loop()), device(), strict);
  const auto error = thrown<NeedsSegments>([&] { (void)answer(segments, "x", row({1, 4})); });
  EXPECT_EQ(error.waiting_node(), "Loop_1");
  EXPECT_THAT(error.what(), HasSubstr("whether it goes on follows from data"));
}

TEST_P(ModelSegments, FallbacksOfAllPlansAreReportedOnce) {
  Graph graph = Sketch()
                    .input("x", {5, 3})
                    .constant("w", Tensor::from({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}))
                    .node("MatMul", {"x", "w"}, {"y"})
                    .graph({"y"});
  graph.tensor(graph.inputs[0]).declared[0].symbol = "rows";
  CompileOptions on_the_host;
  on_the_host.use = {{"gemm", "gemm.eigen"}};
  SegmentedSession segments(to_model(graph), device(), on_the_host);
  for (const std::int64_t rows : {5, 7, 5}) {
    const Tensor x = Tensor::from({rows, 3}, std::vector<float>(3 * rows, 1.0F));
    try {
      EXPECT_THAT(answer(segments, "x", x), SizeIs(2 * rows));
    } catch (const UnsupportedError& error) {
      GTEST_SKIP() << "gemm.eigen cannot be used here: " << error.what();
    }
    ASSERT_THAT(segments.report().fallbacks, SizeIs(1));
    EXPECT_THAT(segments.report().fallbacks[0].print(), HasSubstr("computed on the host"));
  }
}

TEST_P(ModelSegments, ALoopWithoutAnEndIsRefusedAtItsLimit) {
  Graph endless = Sketch()
                      .input("x", {1, 2})
                      .constant("limit", real(30))
                      .node("Abs", {"x"}, {"s"})
                      .node("Loop", {"", "", "s"}, {"last", "all"}, {}, {{"body", doubling()}})
                      .graph({"last"});
  SegmentedSession segments = session(std::move(endless), {.most_turns = 50, .kept_plans = 4});
  const auto error = thrown<UnsupportedError>([&] { (void)answer(segments, "x", row({0, 0})); });
  EXPECT_THAT(error.what(), HasSubstr("takes more than most_turns 50"));
  EXPECT_THAT(answer(segments, "x", row({8, 0})), ElementsAre(32, 0));
}

TEST_P(ModelSegments, TheLargestNumberOfTurnsIsNoLimit) {
  Graph graph = Sketch()
                    .input("x", {1, 2})
                    .whole("m", std::numeric_limits<std::int64_t>::max())
                    .node("Relu", {"x"}, {"s"})
                    .node("Loop", {"m", "", "s"}, {"last", "all"}, {}, {{"body", doubling()}})
                    .graph({"last"});
  SegmentedSession segments = session(std::move(graph));
  EXPECT_THAT(answer(segments, "x", row({1, 4})), ElementsAre(8, 32));
}

/// `m` turns, in which s becomes tanh(s) + i.
Graph long_loop(std::int64_t turns) {
  Sketch body;
  body.formal("i").formal("c").formal("s");
  body.node("Cast", {"i"}, {"r"}, {{"to", std::int64_t{1}}}).node("Tanh", {"s"}, {"t"});
  body.node("Add", {"t", "r"}, {"u"}).node("Identity", {"c"}, {"on"});
  return Sketch()
      .input("x", {1, 2})
      .whole("m", turns)
      .node("Loop", {"m", "", "x"}, {"y"}, {}, {{"body", body.body({"on", "u"}, 0)}})
      .graph({"y"});
}

TEST_P(ModelSegments, ALongLoopWaitsForNoTurn) {
  constexpr std::int64_t kTurns = 10'003;  // more than are written out
  SegmentedSession segments = session(long_loop(kTurns));
  EXPECT_THAT(answer(segments, "x", row({0.5, 0})), ElementsAre(10'003, 10'003));
  ASSERT_THAT(segments.report().waits, SizeIs(1));
  EXPECT_EQ(segments.report().waits[0].times, 1);
  EXPECT_EQ(segments.report().plans, 1);
}

TEST_P(ModelSegments, StatesMayGrowAndChangePlaces) {
  Sketch body;
  body.formal("i").formal("c").formal("a").formal("b").constant("limit", real(9));
  body.node("Concat", {"a", "b"}, {"longer"}, {{"axis", std::int64_t{1}}});
  body.node("ReduceSum", {"longer"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  body.node("Less", {"sum", "limit"}, {"on"});
  Graph graph = Sketch()
                    .input("x", {1, 2})
                    .node("Relu", {"x"}, {"a"})
                    .node("Neg", {"x"}, {"n"})
                    .node("Abs", {"n"}, {"b"})
                    .node("Loop", {"", "", "a", "b"}, {"p", "q"}, {},
                          {{"body", body.body({"on", "longer", "a"}, 0)}})
                    .graph({"p", "q"});
  SegmentedSession segments = session(std::move(graph), {.most_turns = 100, .kept_plans = 2});
  const auto outputs = segments.run(std::vector<NamedTensor>{{"x", row({1, 2})}});
  EXPECT_THAT(values_of(outputs[0].tensor), ElementsAre(1, 2, 1, 2, 1, 2));
  EXPECT_THAT(values_of(outputs[1].tensor), ElementsAre(1, 2, 1, 2));
}

/// q takes p under another operator's name, and each turn shows the same result twice.
TEST_P(ModelSegments, AStateMayBeAnotherThatNothingChanges) {
  Sketch body;
  body.formal("i").formal("c").formal("p").formal("q").constant("limit", real(9));
  body.constant("all", Tensor::from({2}, std::vector<std::int64_t>{1, -1}));
  body.node("Add", {"p", "q"}, {"next"}).node("Reshape", {"p", "all"}, {"same"});
  body.node("ReduceSum", {"next"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  body.node("Less", {"sum", "limit"}, {"on"});
  const Body turn = body.body({"on", "next", "same", "next", "next"}, 0);
  Graph graph =
      Sketch()
          .input("x", {1, 1})
          .node("Relu", {"x"}, {"a"})
          .node("Loop", {"", "", "a", "a"}, {"p", "q", "once", "twice"}, {}, {{"body", turn}})
          .graph({"p", "q", "once", "twice"});
  SegmentedSession segments = session(std::move(graph));
  const auto outputs = segments.run(std::vector<NamedTensor>{{"x", row({1})}});
  EXPECT_THAT(values_of(outputs[0].tensor), ElementsAre(13));
  EXPECT_THAT(values_of(outputs[1].tensor), ElementsAre(8));
  EXPECT_THAT(values_of(outputs[2].tensor), ElementsAre(2, 3, 5, 8, 13));
  EXPECT_THAT(values_of(outputs[3].tensor), ElementsAre(2, 3, 5, 8, 13));
}

TEST_P(ModelSegments, ATurnMayShowItsNumberAndItsCondition) {
  Sketch body;
  body.formal("i").formal("c").formal("s").constant("limit", real(9));
  body.node("Add", {"s", "s"}, {"t"})
      .node("ReduceSum", {"t"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  body.node("Less", {"sum", "limit"}, {"on"});
  const Body turn = body.body({"on", "t", "i", "c"}, 0);
  Graph graph = Sketch()
                    .input("x", {1, 1})
                    .node("Relu", {"x"}, {"a"})
                    .node("Loop", {"", "", "a"}, {"s", "turns", "going"}, {}, {{"body", turn}})
                    .graph({"s", "turns", "going"});
  SegmentedSession segments = session(std::move(graph));
  const auto outputs = segments.run(std::vector<NamedTensor>{{"x", row({2})}});
  EXPECT_THAT(values_of(outputs[0].tensor), ElementsAre(16));
  EXPECT_THAT(values_of(outputs[1].tensor), ElementsAre(0, 1, 2));
  EXPECT_THAT(values_of(outputs[2].tensor), ElementsAre(1, 1, 1));
}

TEST_P(ModelSegments, ABranchMayHaveAShapeOfItsOwn) {
  const std::map<std::string, Body> branches{
      {"then_branch", Sketch()
                          .formal("x")
                          .node("Concat", {"x", "x"}, {"y"}, {{"axis", std::int64_t{1}}})
                          .body({"y"}, 1)},
      {"else_branch", Sketch().formal("x").node("Neg", {"x"}, {"y"}).body({"y"}, 1)}};
  Graph graph = Sketch()
                    .input("x", {1, 2})
                    .constant("zero", real(0))
                    .node("ReduceSum", {"x"}, {"sum"}, {{"keepdims", std::int64_t{0}}})
                    .node("Less", {"zero", "sum"}, {"c"})
                    .node("If", {"c", "x", "x"}, {"y"}, {}, branches)
                    .node("Exp", {"y"}, {"e"})
                    .node("Log", {"e"}, {"z"})
                    .graph({"y"});
  SegmentedSession segments = session(std::move(graph));
  EXPECT_THAT(answer(segments, "x", row({1, 2})), ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(answer(segments, "x", row({-1, -2})), ElementsAre(1, 2));
  EXPECT_THAT(answer(segments, "x", row({3, 4})), ElementsAre(3, 4, 3, 4));
  EXPECT_EQ(segments.report().plans, 0);
}

TEST_P(ModelSegments, AShapeThatDataGiveIsPlannedWhenItIsKnown) {
  Graph graph = Sketch()
                    .input("x", {1, 3})
                    .constant("one", Tensor::from({1}, std::vector<std::int64_t>{-1}))
                    .node("ReduceSum", {"x"}, {"sum"}, {{"keepdims", std::int64_t{0}}})
                    .node("Cast", {"sum"}, {"number"}, {{"to", std::int64_t{7}}})
                    .node("Reshape", {"number", "one"}, {"extent"})
                    .node("ConstantOfShape", {"extent"}, {"zeros"})
                    .node("Exp", {"zeros"}, {"y"})
                    .graph({"y"});
  SegmentedSession segments = session(std::move(graph));
  EXPECT_THAT(answer(segments, "x", row({1, 2, 1})), SizeIs(4));
  EXPECT_THAT(answer(segments, "x", row({1, 1, 0})), ElementsAre(1, 1));
  EXPECT_THAT(segments.report().waits, SizeIs(1));
}

TEST_P(ModelSegments, AScanOfManyTurnsGathersItsParts) {
  constexpr std::int64_t kTurns = 10'001;
  Sketch body;
  body.formal("s").formal("x").node("Add", {"s", "x"}, {"t"}).node("Neg", {"t"}, {"shown"});
  Graph graph = Sketch()
                    .input("s", {1})
                    .input("x", {kTurns, 1})
                    .node("Scan", {"s", "x"}, {"last", "all"},
                          {{"num_scan_inputs", std::int64_t{1}},
                           {"scan_input_directions", std::vector<std::int64_t>{1}},
                           {"scan_output_axes", std::vector<std::int64_t>{1}},
                           {"scan_output_directions", std::vector<std::int64_t>{1}}},
                          {{"body", body.body({"t", "shown"}, 0)}})
                    .graph({"last", "all"});
  SegmentedSession segments = session(std::move(graph));
  Tensor x = Tensor::allocate(DType::f32, {kTurns, 1});
  x.set(0, 5.0);
  x.set(kTurns - 1, 1.0);
  const std::vector<NamedTensor> inputs{{"s", Tensor::from({1}, std::vector<float>{2})}, {"x", x}};
  const auto outputs = segments.run(inputs);
  EXPECT_THAT(values_of(outputs[0].tensor), ElementsAre(8));
  EXPECT_EQ(outputs[1].tensor.shape(), (Shape{1, kTurns}));
  EXPECT_EQ(outputs[1].tensor.at(0), -8);
  EXPECT_EQ(outputs[1].tensor.at(1), -3);
  EXPECT_EQ(outputs[1].tensor.at(kTurns - 1), -3);
}

TEST_P(ModelSegments, NoTurnGivesEmptyRows) {
  Graph graph = Sketch()
                    .input("x", {1, 2})
                    .constant("zero", real(0))
                    .node("ReduceSum", {"x"}, {"sum"}, {{"keepdims", std::int64_t{0}}})
                    .node("Less", {"zero", "sum"}, {"c"})
                    .node("Loop", {"", "c", "x"}, {"last", "all"}, {}, {{"body", doubling()}})
                    .graph({"all", "last"});
  SegmentedSession segments = session(std::move(graph));
  const auto outputs = segments.run(std::vector<NamedTensor>{{"x", row({-1, -2})}});
  EXPECT_EQ(outputs[0].tensor.shape(), (Shape{0, 1, 2}));
  EXPECT_THAT(values_of(outputs[1].tensor), ElementsAre(-1, -2));
}

TEST_P(ModelSegments, AModelWithAPlanIsOneSegment) {
  SegmentedSession segments =
      session(Sketch().input("x", {1, 2}).node("Neg", {"x"}, {"y"}).graph({"y"}));
  EXPECT_THAT(answer(segments, "x", row({1, 2})), ElementsAre(-1, -2));
  EXPECT_THAT(segments.report().waits, IsEmpty());
  EXPECT_EQ(segments.report().plans, 1);
}

TEST_P(ModelSegments, WrongInputsAreNamed) {
  SegmentedSession segments = session(doubling_loop());
  const auto complaint = [&](const std::vector<NamedTensor>& inputs) {
    return std::string(thrown<UsageError>([&] { (void)segments.run(inputs); }).what());
  };
  EXPECT_THAT(complaint({}), HasSubstr("input 'x' is missing"));
  EXPECT_THAT(complaint({{"z", row({1, 2})}}), HasSubstr("has no input 'z'"));
  EXPECT_THAT(complaint({{"x", row({1, 2, 3})}}), HasSubstr("input 'x' is f32 1x3"));
  EXPECT_THAT(complaint({{"x", row({1, 2})}, {"x", row({1, 2})}}), HasSubstr("given twice"));
}

TEST_P(ModelSegments, APlanShowsWhatComesBeforeTheWait) {
  const Model model = to_model(doubling_loop());
  const auto error =
      thrown<NeedsSegments>([&] { (void)compile(model, device(), CompileOptions()); });
  const PartBeforeWait part = part_before_wait(model, {}, error);
  ASSERT_TRUE(part.model);
  EXPECT_EQ(part.model->outputs().at(0).name, "s");
  EXPECT_EQ(part.nodes_behind, 2);
}

}  // namespace
}  // namespace morton::test
