// SPDX-License-Identifier: Apache-2.0
//
// Outputs that are fed back: CompileOptions::feeds.
#include <gmock/gmock.h>

#include <limits>

#include "graph/random_network.hpp"
#include "model/model_check.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ModelFeeds : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelFeeds);

/// y = 2 s + x, and next = s + x; `length` is the state's, where x has 2.
Graph counter(std::int64_t length = 2) {
  RandomNetwork network("counter", 1);
  const TensorId x = network.input("x", {{2, ""}});
  const TensorId s = network.input("s", {{length, ""}});
  const TensorId two = network.filled("two", {}, 2.0F);
  const TensorId doubled = network.node("Mul", "doubled", {s, two});
  network.output(network.node("Add", "y", {doubled, x}), {{2, ""}});
  network.output(network.node("Add", "next", {s, x}), {{2, ""}});
  return network.finish();
}

Tensor numbers(float a, float b) { return Tensor::from({2}, std::vector<float>{a, b}); }

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> list;
  for (std::int64_t i = 0; i < tensor.size(); ++i) list.push_back(tensor.at(i));
  return list;
}

TEST_P(ModelFeeds, AnInputTakesTheOutputOfTheRunBefore) {
  CompileOptions options;
  options.feeds = {{"next", "s"}};
  const CompiledModel model = compile(to_model(counter()), device(), options);
  ASSERT_EQ(model.inputs().size(), 1U);
  ASSERT_EQ(model.outputs().size(), 1U);
  Session session(model);
  const std::vector<NamedTensor> inputs{{"x", numbers(1, 10)}};
  EXPECT_THAT(values(session.run(inputs)[0].tensor), ElementsAre(1, 10));
  EXPECT_THAT(values(session.run(inputs)[0].tensor), ElementsAre(3, 30));
  EXPECT_THAT(values(session.run(inputs)[0].tensor), ElementsAre(5, 50));
  EXPECT_THAT(values(session.get_state("s")), ElementsAre(3, 30));
  session.set_state("s", numbers(100, 0));
  EXPECT_THAT(values(session.run(inputs)[0].tensor), ElementsAre(201, 10));
  Session other(model);
  EXPECT_THAT(values(other.run(inputs)[0].tensor), ElementsAre(1, 10));
}

/// seen = past with x behind it, and sum of all of that.
Graph gatherer(std::int64_t step) {
  RandomNetwork network("gatherer", 1, 17);
  const TensorId x = network.input("x", {{2, ""}, {step, ""}});
  const TensorId past = network.input("past", {{2, ""}, {0, "seen"}});
  const TensorId seen = network.node("Concat", "seen", {past, x}, {{"axis", std::int64_t{1}}});
  network.output(seen, {{2, ""}, {0, "more"}});
  network.output(network.node("Identity", "shown", {seen}), {{2, ""}, {0, "more"}});
  network.output(
      network.node("ReduceMax", "most", {seen},
                   {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}}),
      {{2, ""}});
  return network.finish();
}

TEST_P(ModelFeeds, AnInputGrowsByWhatEachRunAdds) {
  CompileOptions options;
  options.feeds = {{"seen", "past"}};
  options.shapes["past"] = {2, 3};
  const CompiledModel model = compile(to_model(gatherer(1)), device(), options);
  Session session(model);
  const auto run = [&](float a, float b) {
    return session.run(
        std::vector<NamedTensor>{{"x", Tensor::from({2, 1}, std::vector<float>{a, b})}});
  };
  auto outputs = run(-5, 7);
  EXPECT_EQ(outputs[0].tensor.shape(), (Shape{2, 1}));
  EXPECT_THAT(values(outputs[1].tensor), ElementsAre(-5, 7));
  outputs = run(-6, 1);
  EXPECT_THAT(values(outputs[0].tensor), ElementsAre(-5, -6, 7, 1));
  EXPECT_THAT(values(outputs[1].tensor), ElementsAre(-5, 7));
  outputs = run(-1, 9);
  EXPECT_THAT(values(outputs[0].tensor), ElementsAre(-5, -6, -1, 7, 1, 9));
  const auto error = thrown<UsageError>([&] { (void)run(0, 0); });
  EXPECT_THAT(error.what(),
              HasSubstr("'past' is 3 long along dimension 1, and there is room for 3"));
  session.set_state("past.count", Tensor::from({1}, std::vector<std::int64_t>{1}));
  outputs = run(4, 4);
  EXPECT_THAT(values(outputs[0].tensor), ElementsAre(-5, 4, 7, 4));
}

TEST_P(ModelFeeds, AnInputGrowsBySeveralAtOnce) {
  CompileOptions options;
  options.feeds = {{"seen", "past"}};
  options.shapes["past"] = {2, 5};
  Session session(compile(to_model(gatherer(2)), device(), options));
  const std::vector<NamedTensor> inputs{
      {"x", Tensor::from({2, 2}, std::vector<float>{1, 2, 3, 4})}};
  (void)session.run(inputs);
  const auto outputs = session.run(inputs);
  EXPECT_THAT(values(outputs[0].tensor), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
  EXPECT_THROW((void)session.run(inputs), UsageError);
}

TEST_P(ModelFeeds, WhatIsLongerThanARunAddsIsNotCut) {
  RandomNetwork network("twice", 1, 17);
  const TensorId x = network.input("x", {{1, ""}, {1, ""}});
  const TensorId past = network.input("past", {{1, ""}, {0, "seen"}});
  const std::map<std::string, Attribute> along{{"axis", std::int64_t{1}}};
  network.output(network.node("Concat", "seen", {past, x}, along), {{1, ""}, {0, "more"}});
  const TensorId thrice = network.node("Concat", "thrice", {x, x, x}, along);
  network.output(network.node("Concat", "other", {past, thrice}, along), {{1, ""}, {0, "most"}});
  CompileOptions options;
  options.feeds = {{"seen", "past"}};
  options.shapes["past"] = {1, 2};
  Session session(compile(to_model(network.finish()), device(), options));
  const auto run = [&](float value) {
    const Tensor given = Tensor::from({1, 1}, std::vector<float>{value});
    return values(session.run(std::vector<NamedTensor>{{"x", given}})[0].tensor);
  };
  EXPECT_THAT(run(5), ElementsAre(5, 5, 5));
  EXPECT_THAT(run(6), ElementsAre(5, 6, 6, 6));
}

TEST_P(ModelFeeds, AFullInputBeginsAgain) {
  CompileOptions options;
  options.feeds = {{"seen", "past"}};
  options.shapes["past"] = {2, 2};
  Session session(compile(to_model(gatherer(1)), device(), options));
  const std::vector<NamedTensor> inputs{{"x", Tensor::from({2, 1}, std::vector<float>{1, 2})}};
  session.empty_full_states();
  (void)session.run(inputs);
  session.empty_full_states();  // it has room for one more
  EXPECT_THAT(values(session.run(inputs)[0].tensor), ElementsAre(1, 1, 2, 2));
  session.empty_full_states();
  EXPECT_THAT(values(session.run(inputs)[0].tensor), ElementsAre(1, 2));
}

/// The columns gathered so far times the rows gathered so far.
Graph product_of_gathered() {
  RandomNetwork network("product", 1, 17);
  const TensorId column = network.input("column", {{2, ""}, {1, ""}});
  const TensorId row = network.input("row", {{1, ""}, {2, ""}});
  const TensorId columns = network.input("columns", {{2, ""}, {0, "seen"}});
  const TensorId rows = network.input("rows", {{0, "seen"}, {2, ""}});
  const TensorId left =
      network.node("Concat", "left", {columns, column}, {{"axis", std::int64_t{1}}});
  const TensorId right = network.node("Concat", "right", {rows, row}, {{"axis", std::int64_t{0}}});
  network.output(left, {{2, ""}, {0, "more"}});
  network.output(right, {{0, "more"}, {2, ""}});
  network.output(network.node("MatMul", "product", {left, right}), {{2, ""}, {2, ""}});
  return network.finish();
}

TEST_P(ModelFeeds, AProductReadsWhatGrowsWithoutACopy) {
  CompileOptions options;
  options.feeds = {{"left", "columns"}, {"right", "rows"}};
  options.shapes = {{"columns", {2, 3}}, {"rows", {3, 2}}};
  const CompiledModel model = compile(to_model(product_of_gathered()), device(), options);
  for (const StepInfo& step : model.steps()) {
    EXPECT_THAT(step.name, Not(HasSubstr("product/Where")));
  }
  Session session(model);
  const auto run = [&](float a, float b) {
    const std::vector<NamedTensor> inputs{
        {"column", Tensor::from({2, 1}, std::vector<float>{a, b})},
        {"row", Tensor::from({1, 2}, std::vector<float>{a, b})}};
    return values(session.run(inputs)[0].tensor);
  };
  EXPECT_THAT(run(1, 2), ElementsAre(1, 2, 2, 4));
  EXPECT_THAT(run(3, 0), ElementsAre(10, 2, 2, 4));
  EXPECT_THAT(run(0, std::numeric_limits<float>::infinity())[0], 10);
  // What is void again was infinite, and has no share.
  session.set_state("columns.count", Tensor::from({1}, std::vector<std::int64_t>{1}));
  EXPECT_THAT(run(1, 1), ElementsAre(2, 3, 3, 5));
}

TEST_P(ModelFeeds, AGrowingStateIsSetAndReadAsLongAsItIs) {
  CompileOptions options;
  options.feeds = {{"seen", "past"}};
  options.shapes["past"] = {2, 3};
  Session session(compile(to_model(gatherer(1)), device(), options));
  const auto run = [&] {
    return values(
        session
            .run(std::vector<NamedTensor>{{"x", Tensor::from({2, 1}, std::vector<float>{5, 6})}})[0]
            .tensor);
  };
  EXPECT_EQ(session.get_state("past").shape(), (Shape{2, 0}));
  session.set_state("past", Tensor::from({2, 2}, std::vector<float>{1, 2, 3, 4}));
  EXPECT_THAT(values(session.get_state("past")), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run(), ElementsAre(1, 2, 5, 3, 4, 6));
  EXPECT_THAT(values(session.get_state("past")), ElementsAre(1, 2, 5, 3, 4, 6));
  EXPECT_THROW((void)run(), UsageError);
  session.set_state("past", Tensor::from({2, 1}, std::vector<float>{8, 9}));
  EXPECT_THAT(run(), ElementsAre(8, 5, 9, 6));
  const auto complaint = [&](const std::string& name, const Tensor& value) {
    return std::string(thrown<UsageError>([&] { session.set_state(name, value); }).what());
  };
  EXPECT_THAT(complaint("past", Tensor::from({2, 4}, std::vector<float>(8))),
              HasSubstr("is set to shape 2x4; it has 2x3, and may be shorter along dimension 1"));
  EXPECT_THAT(complaint("past", Tensor::from({1, 2}, std::vector<float>(2))), HasSubstr("1x2"));
  EXPECT_THAT(complaint("past.count", Tensor::from({1}, std::vector<std::int64_t>{4})),
              HasSubstr("counts from 0 to 3"));
  EXPECT_THAT(run(), ElementsAre(8, 5, 5, 9, 6, 6));
}

TEST_P(ModelFeeds, StatesThatGrowTogetherAreSetAlike) {
  CompileOptions options;
  options.feeds = {{"left", "columns"}, {"right", "rows"}};
  options.shapes = {{"columns", {2, 3}}, {"rows", {3, 2}}};
  Session session(compile(to_model(product_of_gathered()), device(), options));
  const std::vector<NamedTensor> inputs{{"column", Tensor::from({2, 1}, std::vector<float>{1, 2})},
                                        {"row", Tensor::from({1, 2}, std::vector<float>{3, 4})}};
  session.set_state("columns", Tensor::from({2, 1}, std::vector<float>{1, 1}));
  EXPECT_THAT(thrown<UsageError>([&] { (void)session.run(inputs); }).what(),
              HasSubstr("'columns' is 1 long along dimension 1, and state 'rows' 0 along "
                        "dimension 0; runs fill them alike, so set them alike"));
  session.set_state("rows", Tensor::from({1, 2}, std::vector<float>{10, 20}));
  EXPECT_THAT(values(session.run(inputs)[0].tensor), ElementsAre(13, 24, 16, 28));
}

TEST_P(ModelFeeds, ARunThatIsRefusedFillsNothing) {
  CompileOptions options;
  options.feeds = {{"seen", "past"}};
  options.shapes["past"] = {2, 1};
  Session session(compile(to_model(gatherer(1)), device(), options));
  const auto run = [&](const Tensor& x) { return session.run(std::vector<NamedTensor>{{"x", x}}); };
  EXPECT_THROW((void)run(Tensor::from({1, 1}, std::vector<float>{5})), UsageError);
  EXPECT_THAT(values(run(Tensor::from({2, 1}, std::vector<float>{5, 6}))[0].tensor),
              ElementsAre(5, 6));
}

TEST_P(ModelFeeds, WhatDoesNotFitIsNamed) {
  const Graph graph = counter();
  const auto complaint = [&](const std::map<std::string, std::string>& feeds) {
    CompileOptions options;
    options.feeds = feeds;
    return std::string(
        thrown<UsageError>([&] { (void)compile(to_model(graph), device(), options); }).what());
  };
  EXPECT_THAT(complaint({{"z", "s"}}),
              HasSubstr("'z' is no output of the model, which has 'y', 'next'"));
  EXPECT_THAT(complaint({{"y", "t"}}),
              HasSubstr("'t' is no input of the model, which has 'x', 's'"));
  EXPECT_THAT(complaint({{"y", "s"}, {"next", "s"}}), HasSubstr("input 's' is fed twice"));
  CompileOptions options;
  options.feeds = {{"next", "s"}};
  const Graph wide = counter(1);
  EXPECT_THAT(thrown<UsageError>([&] { (void)compile(to_model(wide), device(), options); }).what(),
              HasSubstr("output 'next' is f32 2, and input 's' is f32 1; they must be alike"));
}

}  // namespace
}  // namespace morton::test
