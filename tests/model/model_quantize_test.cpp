// SPDX-License-Identifier: Apache-2.0
//
// Models of 8 bits, made after training (morton/quantize.hpp).
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "api/inside.hpp"
#include "api/quantization/value_range.hpp"
#include "model/model_check.hpp"
#include "morton/compare_models.hpp"
#include "morton/evaluation.hpp"
#include "morton/quantize.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/sketch.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

class ModelQuantize : public ModelTest {
 protected:
  static Dataset digits(Split split) {
    return read_dataset(MORTON_SOURCE_DIR "/data/mnist", split);
  }
};
MORTON_MODELS_ON_EVERY_DEVICE(ModelQuantize);

TEST_P(ModelQuantize, LeNetLosesNextToNothing) {
  QuantizeOptions options;
  options.examples = 100;
  const QuantizedModel quantized = quantize(lenet(), device(), digits(Split::train), options);
  EXPECT_EQ(quantized.examples, 96);  // whole batches of 32
  ASSERT_EQ(quantized.layers.size(), 5U);
  for (const QuantizedLayer& layer : quantized.layers) {
    EXPECT_TRUE(layer.is_quantized);
    EXPECT_GT(layer.signal_to_noise_db, 35.0) << layer.node;
    EXPECT_LT(layer.signal_to_noise_db, 70.0) << layer.node;
    EXPECT_LT(layer.weight_bytes_after * 3, layer.weight_bytes_before) << layer.node;
  }
  EXPECT_GT(quantized.output_signal_to_noise_db, 30.0);
  CompileOptions compile_options;
  compile_options.batch = 100;
  const Dataset test = digits(Split::test);
  const Evaluation exact = evaluate(compile(lenet(), device(), compile_options), test);
  const Evaluation found = evaluate(compile(quantized.model, device(), compile_options), test);
  EXPECT_NEAR(found.accuracy(), exact.accuracy(), 0.005);
}

TEST_P(ModelQuantize, NamedLayersAndTheWorstStay) {
  QuantizeOptions options;
  options.examples = 32;
  options.in_float = {"F6"};
  options.worst_in_float = 1;
  const QuantizedModel quantized = quantize(lenet(), device(), digits(Split::train), options);
  int of_8_bits = 0;
  double least = std::numeric_limits<double>::infinity();
  double worst = 0.0;
  for (const QuantizedLayer& layer : quantized.layers) {
    of_8_bits += layer.is_quantized ? 1 : 0;
    if (layer.is_quantized) least = std::min(least, layer.signal_to_noise_db);
    if (layer.why_not == "loses most") worst = layer.signal_to_noise_db;
    EXPECT_EQ(layer.node == "F6", layer.why_not == "named");
  }
  EXPECT_EQ(of_8_bits, 3);
  EXPECT_GT(worst, 0.0);
  EXPECT_LE(worst, least);
  const Graph& graph = api::Inside::of(quantized.model);
  int weights = 0;
  for (const GraphTensor& tensor : graph.tensors) {
    const bool is_weight = tensor.dtype == DType::i8 && tensor.data.shape().size() > 1;
    weights += is_weight ? 1 : 0;
  }
  EXPECT_EQ(weights, 3);
}

/// 4 pictures of 2x2, all levels from 0 to 240.
Dataset levels() {
  Dataset data;
  data.where = "levels";
  data.inputs = Tensor::allocate(DType::u8, {4, 1, 2, 2});
  for (std::int64_t i = 0; i < 16; ++i) data.inputs.set(i, static_cast<double>(16 * i));
  data.targets = Tensor::allocate(DType::i32, {4});
  data.classes = 1;
  return data;
}

TEST_P(ModelQuantize, BiasesTakeUpTheMeanError) {
  Sketch sketch;
  sketch.input("x", {4, 1, 2, 2});
  // 0.4 of a step of the second weight is rounded away, always to the same side.
  sketch.constant("w", Tensor::from({1, 1, 1, 1}, std::vector<float>{1.0F}));
  sketch.constant(
      "w2", Tensor::from({2, 4}, std::vector<float>{127, 0.4F, 0.4F, 0.4F, 127, 0.4F, 0.4F, 0.4F}));
  sketch.node("Conv", {"x", "w"}, {"y"});
  sketch.node("Flatten", {"y"}, {"flat"});
  sketch.node("Gemm", {"flat", "w2"}, {"z"}, {{"transB", std::int64_t{1}}});
  const Model model = api::Inside::make(sketch.graph({"z"}));
  QuantizeOptions options;
  options.examples = 4;
  const double corrected = quantize(model, device(), levels(), options).output_signal_to_noise_db;
  options.biases = QuantizeOptions::Biases::leave;
  const double left = quantize(model, device(), levels(), options).output_signal_to_noise_db;
  EXPECT_GT(corrected, left);
}

TEST_P(ModelQuantize, ALossHasTheRoundingOfTheResult) {
  QuantizeOptions options;
  options.examples = 4;
  const auto loss_before = [&](const std::string& op) {
    Sketch sketch;
    sketch.input("x", {4, 1, 2, 2});
    // Input and weights have exact codes; results lie on both sides of 0.
    sketch.constant("w", Tensor::from({2, 1, 1, 1}, std::vector<float>{1.0F, -1.0F}));
    sketch.node("Conv", {"x", "w"}, {"y"}).node(op, {"y"}, {"z"});
    const Model model = api::Inside::make(sketch.graph({"z"}));
    return quantize(model, device(), levels(), options).layers.at(0).signal_to_noise_db;
  };
  EXPECT_GT(loss_before("Tanh"), 35.0);
  EXPECT_LT(loss_before("Tanh"), 60.0);
  // Behind a Relu they are those of the input, and as exact.
  EXPECT_GT(loss_before("Relu"), 100.0);
}

TEST_P(ModelQuantize, ExamplesAreSpreadOverTheData) {
  Sketch sketch;
  sketch.input("x", {2, 1, 2, 2}).node("Relu", {"x"}, {"y"});
  const CompiledModel compiled = compile(api::Inside::make(sketch.graph({"y"})), device());
  ExampleOptions options;
  options.examples = 2;
  const Tensor shown = example_runs(compiled, levels(), options).inputs(0).front().tensor;
  EXPECT_FLOAT_EQ(static_cast<float>(shown.at(0)), 0.0F);
  EXPECT_FLOAT_EQ(static_cast<float>(shown.at(4)), 128.0F / 255.0F);  // the third of four
}

TEST_P(ModelQuantize, ABiasOfTinyWeightsStays) {
  Sketch sketch;
  sketch.input("x", {4, 1, 2, 2});
  sketch.constant("w", Tensor::from({2, 1, 1, 1}, std::vector<float>{1.0F, 1e-9F}));
  sketch.constant("b", Tensor::from({2}, std::vector<float>{0.0F, 100.0F}));
  sketch.node("Conv", {"x", "w", "b"}, {"y"});
  const Model model = api::Inside::make(sketch.graph({"y"}));
  QuantizeOptions options;
  options.examples = 4;
  EXPECT_GT(quantize(model, device(), levels(), options).output_signal_to_noise_db, 40.0);
}

TEST_P(ModelQuantize, AnyFirstOutputWillDo) {
  const auto made = [](const std::string& op, const std::map<std::string, Attribute>& attributes) {
    Sketch sketch;
    sketch.input("x", {4, 1, 2, 2});
    sketch.constant("w", Tensor::from({1, 1, 1, 1}, std::vector<float>{1.0F}));
    sketch.node("Conv", {"x", "w"}, {"y"});
    sketch.node(op, {"y"}, {"z"}, attributes);
    return api::Inside::make(sketch.graph({"z"}));
  };
  QuantizeOptions options;
  options.examples = 4;
  const Model scalar = made("ReduceMean", {{"keepdims", std::int64_t{0}}});
  EXPECT_GT(quantize(scalar, device(), levels(), options).output_signal_to_noise_db, 30.0);
  const Model whole = made("ArgMax", {{"axis", std::int64_t{3}}});
  EXPECT_TRUE(std::isnan(quantize(whole, device(), levels(), options).output_signal_to_noise_db));
}

TEST_P(ModelQuantize, WhatDoesNotFitIsNamed) {
  const Dataset data = digits(Split::train);
  const auto complaint = [&](const Model& model, const QuantizeOptions& options) {
    return std::string(
        thrown<UsageError>([&] { (void)quantize(model, device(), data, options); }).what());
  };
  QuantizeOptions options;
  options.in_float = {"F7"};
  EXPECT_THAT(complaint(lenet(), options),
              HasSubstr("there is no such layer; there are 'C1', 'C3', 'F5', 'F6', 'output'"));
  options = {};
  options.range = QuantizeOptions::Range::percentile;
  options.percentile = 50.0;
  EXPECT_THAT(complaint(lenet(), options), HasSubstr("expected above 50 and up to 100"));
  options = {};
  options.examples = 0;
  EXPECT_THAT(complaint(lenet(), options), HasSubstr("expected 1 or more"));
  Graph old = api::Inside::of(lenet());
  old.opset = 12;
  EXPECT_THAT(complaint(api::Inside::make(old), {}), HasSubstr("opset 12"));
  Sketch sketch;
  sketch.input("x", {4, 8}).node("Relu", {"x"}, {"y"});
  EXPECT_THAT(complaint(api::Inside::make(sketch.graph({"y"})), {}), HasSubstr("no Conv, Gemm"));
}

TEST_P(ModelQuantize, OptionsThatChangeNothingAreRefused) {
  const Dataset data = digits(Split::train);
  const auto complaint = [&](const QuantizeOptions& options) {
    return std::string(
        thrown<UsageError>([&] { (void)quantize(lenet(), device(), data, options); }).what());
  };
  QuantizeOptions options;
  options.percentile = 99.0;
  EXPECT_THAT(complaint(options), HasSubstr("is read with range percentile alone"));
  options = {};
  options.worst_in_float = 5;
  EXPECT_THAT(complaint(options), HasSubstr("expected fewer than the 5 layers"));
  options.in_float = {"C1"};
  options.worst_in_float = 4;
  EXPECT_THAT(complaint(options), HasSubstr("expected fewer than the 4 layers"));
  options = {};
  options.in_float = {"C1", "C3", "F5", "F6", "output"};
  EXPECT_THAT(complaint(options), HasSubstr("names every layer"));
}

TEST_P(ModelQuantize, SharedWeightsCountOnce) {
  Sketch sketch;
  sketch.input("x", {4, 4});
  sketch.constant("w", random_tensor({4, 4}, 1));
  sketch.node("MatMul", {"x", "w"}, {"y"}).node("MatMul", {"y", "w"}, {"z"});
  const Model model = api::Inside::make(sketch.graph({"z"}));
  Dataset data = levels();
  QuantizeOptions options;
  options.examples = 4;
  const QuantizedModel both = quantize(model, device(), data, options);
  EXPECT_EQ(both.weight_bytes_before, 64);
  EXPECT_EQ(both.weight_bytes_after, 16 + 4 * 5);
  options.in_float = {both.layers[0].node};
  const QuantizedModel one = quantize(model, device(), data, options);
  EXPECT_EQ(one.weight_bytes_before, 64);
  EXPECT_EQ(one.weight_bytes_after, 64 + 16 + 4 * 5);  // the file has both
}

TEST_P(ModelQuantize, LayersThatStayAreNamedWithTheReason) {
  Sketch body;
  body.formal("inside").formal("v").node("MatMul", {"inside", "v"}, {"t"});
  Sketch twin(body);
  Sketch sketch;
  sketch.input("x", {4, 4});
  sketch.constant("w", random_tensor({4, 4}, 1)).constant("w3", random_tensor({1, 4, 4}, 2));
  sketch.constant("w16", random_tensor({4, 4}, 3).converted(DType::f16)).truth("yes", true);
  sketch.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"a", "w3"}, {"b"});
  sketch.node("Flatten", {"b"}, {"c"}, {{"axis", std::int64_t{2}}});
  sketch.node("Transpose", {"w"}, {"moved"}).node("MatMul", {"c", "moved"}, {"d"});
  sketch.node("MatMul", {"w", "d"}, {"e"}).node("MatMul", {"e", "d"}, {"f"});
  sketch.node("Cast", {"f"}, {"f16"}, {{"to", std::int64_t{10}}});
  sketch.node("MatMul", {"f16", "w16"}, {"g"});
  sketch.node("Cast", {"g"}, {"h"}, {{"to", std::int64_t{1}}});
  sketch.node("If", {"yes", "h", "w", "h", "w"}, {"y"}, {},
              {{"else_branch", body.body({"t"}, 2)}, {"then_branch", twin.body({"t"}, 2)}});
  const Model model = api::Inside::make(sketch.graph({"y"}));
  QuantizeOptions options;
  options.examples = 4;
  std::vector<std::string> told;
  for (const QuantizedLayer& layer : quantize(model, device(), levels(), options).layers) {
    told.push_back(layer.node + ": " + (layer.is_quantized ? "8" : layer.why_not));
  }
  EXPECT_THAT(told, ::testing::ElementsAre("MatMul_0: 8", "MatMul_1: weights 1x4x4",
                                           "MatMul_4: a node computes its weights",
                                           "MatMul_5: its weights are the first operand",
                                           "MatMul_8: weights of f16", "MatMul_0: inside If",
                                           "MatMul_0: inside If"));
}

TEST(ValueCounts, RangesHoldZeroAndWhatIsAsked) {
  using Range = QuantizeOptions::Range;
  api::ValueCounts counts;
  std::vector<float> values(1000, 1.0F);
  values[0] = 9.0F;
  values[1] = 0.0F;
  ASSERT_TRUE(counts.widen(values));
  counts.count(values);
  EXPECT_EQ(counts.range(Range::min_max, 100).low, 0.0);
  EXPECT_EQ(counts.range(Range::min_max, 100).high, 9.0);
  EXPECT_NEAR(counts.range(Range::percentile, 99.0).high, 1.0, 0.01);
  EXPECT_FALSE(counts.widen(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_FALSE(counts.widen(std::vector<float>{std::numeric_limits<float>::infinity()}));
}

TEST(ValueCounts, CodesHaveAnExactZero) {
  const api::Code code = api::code_of({-1.0, 2.0});
  EXPECT_FLOAT_EQ(static_cast<float>(code.scale), 3.0F / 255.0F);
  EXPECT_EQ(code.zero, 85);
  EXPECT_EQ(api::code_of({0.0, 0.0}).scale, 1.0);
  EXPECT_EQ(api::code_of({-1.0, 0.0}).zero, 255);
}

}  // namespace
}  // namespace morton::test
