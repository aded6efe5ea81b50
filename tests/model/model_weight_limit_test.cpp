// SPDX-License-Identifier: Apache-2.0
//
// CompileOptions::Limits::weight_bytes: weights take turns on the device, and answers are the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/model_check.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

class ModelWeightLimit : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelWeightLimit);

constexpr std::int64_t kWholeLayer = std::int64_t{4} * 128 * 512;

/// A convolution, and layers of 256 KiB each.
Graph deep_network() {
  NetworkBuilder network("deep", 3);
  TensorId x = network.relu(network.conv(network.input("x", {-1, 8, 8, 8}), 8, 32, {.pad = 1}));
  x = network.node("Flatten", {network.node("GlobalAveragePool", {x})});
  std::int64_t rows = 32;
  for (const std::int64_t columns : {128, 512, 128, 512, 16}) {
    x = network.relu(network.node("MatMul", {x, network.parameter({rows, columns}, rows)}));
    rows = columns;
  }
  network.output(x);
  return network.finish();
}

/// No kernel of it has its weights as an image of their own, which stays.
bool may_stream(const Device& device) {
  CompileOptions options;
  options.limits.weight_bytes = kWholeLayer;
  try {
    return compile(to_model(deep_network()), device, options).report().memory.streamed_bytes > 0;
  } catch (const UnsupportedError&) {
    return false;
  }
}

void expect_alike(const Tensor& found, const Tensor& right) {
  ASSERT_EQ(found.shape(), right.shape());
  for (std::int64_t i = 0; i < right.size(); ++i) {
    ASSERT_NEAR(found.at(i), right.at(i), 1e-4 * (1 + std::abs(right.at(i)))) << i;
  }
}

TEST_P(ModelWeightLimit, AnswersAreThoseOfWeightsThatStay) {
  if (!may_stream(device())) GTEST_SKIP() << "kernels here keep weights as images";
  const Graph graph = deep_network();
  const Model model = to_model(graph);
  for (const std::int64_t batch : {1, 3}) {
    CompileOptions options;
    options.batch = batch;
    const CompiledModel whole = compile(model, device(), options);
    Session expected(whole);
    ASSERT_GT(whole.report().memory.weight_bytes, 3 * kWholeLayer);
    EXPECT_EQ(whole.report().memory.streamed_bytes, 0);
    for (const std::int64_t limit : {2 * kWholeLayer, kWholeLayer / 2}) {
      options.limits.weight_bytes = limit;
      const CompiledModel turns = compile(model, device(), options);
      EXPECT_LE(turns.report().memory.weight_bytes, limit);
      EXPECT_GT(turns.report().memory.streamed_bytes, limit);
      // Two sessions at once, each with several runs: places are free again for the next ones.
      Session one(turns), other(turns);
      for (const std::uint64_t seed : {1, 2, 3}) {
        const auto inputs = random_inputs(graph, batch, seed);
        const Tensor right = expected.run(inputs)[0].tensor;
        for (Session* session : {&one, &other}) {
          expect_alike(session->run(inputs)[0].tensor, right);
        }
      }
    }
  }
}

TEST_P(ModelWeightLimit, OtherShapesKeepToItToo) {
  if (!may_stream(device())) GTEST_SKIP() << "kernels here keep weights as images";
  const Graph graph = deep_network();
  CompileOptions options;
  options.batch = 1;
  options.limits.weight_bytes = kWholeLayer / 2;
  const CompiledModel one = compile(to_model(graph), device(), options);
  const CompiledModel four = one.with_shapes({4, {}}, CompiledModel::Missing::build);
  EXPECT_GT(four.report().memory.streamed_bytes, 0);
  const auto inputs = random_inputs(graph, 4, 9);
  CompileOptions whole;
  whole.batch = 4;
  const Tensor right = Session(compile(to_model(graph), device(), whole)).run(inputs)[0].tensor;
  expect_alike(Session(four).run(inputs)[0].tensor, right);
}

TEST_P(ModelWeightLimit, SaysWhatCannotBe) {
  const Model model = to_model(deep_network());
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{-4}}) {
    CompileOptions options;
    options.limits.weight_bytes = limit;
    EXPECT_THROW((void)compile(model, device(), options), UsageError);
  }
  CompileOptions options;
  options.limits.weight_bytes = 1024;
  try {
    (void)compile(model, device(), options);
    FAIL() << "1024 bytes are enough for weights";
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("weight_limit_bytes 1024: the weights take"));
  }
  if (!may_stream(device())) return;
  options.limits.weight_bytes = kWholeLayer;
  const TemporaryFolder folder;
  const CompiledModel turns = compile(model, device(), options);
  try {
    save_compiled(std::span(&turns, 1), folder / "deep.morton");
    FAIL() << "a file of weights that take turns was written";
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("take turns"));
  }
}

}  // namespace
}  // namespace morton::test
