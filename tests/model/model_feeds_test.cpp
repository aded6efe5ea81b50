// SPDX-License-Identifier: Apache-2.0
//
// Outputs that are fed back: CompileOptions::feeds.
#include <gmock/gmock.h>

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
