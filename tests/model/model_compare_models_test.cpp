// SPDX-License-Identifier: Apache-2.0
//
// Two models on the same inputs (morton/compare_models.hpp): what is added up, and what is refused.
#include <gmock/gmock.h>

#include <cmath>

#include "api/inside.hpp"
#include "model/model_check.hpp"
#include "morton/compare_models.hpp"
#include "morton/quantize.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/sketch.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelCompareModels : public ModelTest {
 protected:
  /// y = x times those weights, by way of "h", which is x times 2.
  [[nodiscard]] static Model product(const std::vector<float>& weights,
                                     const std::string& output = "y") {
    Sketch sketch;
    sketch.input("x", {2, 2});
    sketch.constant("two", Tensor::from({}, std::vector<float>{2.0F}));
    sketch.constant("w", Tensor::from({2, 2}, weights));
    sketch.node("Mul", {"x", "two"}, {"h"});
    sketch.node("MatMul", {"h", "w"}, {output});
    return api::Inside::make(sketch.graph({output}));
  }
  [[nodiscard]] static Model elementwise(const std::string& op) {
    Sketch sketch;
    sketch.input("x", {2, 2}).node(op, {"x"}, {"y"});
    return api::Inside::make(sketch.graph({"y"}));
  }
  [[nodiscard]] static InputRuns runs_of(std::vector<std::vector<float>> values) {
    InputRuns runs;
    runs.runs = static_cast<std::int64_t>(values.size());
    runs.inputs = [values = std::move(values)](std::int64_t run) {
      return std::vector<NamedTensor>{
          {"x", Tensor::from({2, 2}, values[static_cast<std::size_t>(run)])}};
    };
    return runs;
  }
  [[nodiscard]] ModelDifferences compared(
      const Model& first, const Model& second, const InputRuns& runs,
      ComparedTensors tensors = ComparedTensors::outputs) const {
    return compare_models(compile(first, device()), compile(second, device()), runs, tensors);
  }
};
MORTON_MODELS_ON_EVERY_DEVICE(ModelCompareModels);

TEST_P(ModelCompareModels, ErrorsAreAddedUpOverRuns) {
  const Model first = product({0.5F, 0, 0, 0.5F});
  const Model second = product({0.5F, 0, 0, 0.125F});
  // y is 1 2 / 3 -4 and 1 0.5 / 3 -1; in the second run 0 8 / 0 0 and 0 2 / 0 0.
  const ModelDifferences found = compared(first, second, runs_of({{1, 2, 3, -4}, {0, 8, 0, 0}}));
  ASSERT_EQ(found.outputs.size(), 1U);
  const TensorDifference& y = found.outputs[0];
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.elements, 8);
  EXPECT_DOUBLE_EQ(y.largest_error, 6.0);
  EXPECT_DOUBLE_EQ(y.mean_error, (1.5 + 3.0 + 6.0) / 8.0);
  EXPECT_NEAR(y.signal_to_noise_db, 10.0 * std::log10((30.0 + 64.0) / (11.25 + 36.0)), 1e-9);
  EXPECT_EQ(y.rows, 4);
  EXPECT_EQ(y.rows_alike, 3);  // of 1 2 and 1 0.5 it is another
  EXPECT_TRUE(found.inner.empty());
  EXPECT_TRUE(found.not_compared.empty());
}

TEST_P(ModelCompareModels, ProgressIsToldWhileTheCallerCompilesAlone) {
  const Model model = product({1, 0, 0, 1});
  bool is_over = false;
  int told = 0;
  CompileOptions options;
  options.progress = [&](double) {
    EXPECT_FALSE(is_over);
    ++told;
  };
  const CompiledModel compiled = compile(model, device(), options);
  EXPECT_GT(told, 0);
  is_over = true;
  // Its inner tensors need further kernels.
  (void)compare_models(compiled, compiled, runs_of({{1, 2, 3, 4}}), ComparedTensors::all);
}

TEST_P(ModelCompareModels, InnerTensorsOfOneNameAreFound) {
  const ModelDifferences found = compared(product({1, 0, 0, 1}), product({1, 0, 0, 2}),
                                          runs_of({{1, 2, 3, 4}}), ComparedTensors::all);
  ASSERT_EQ(found.inner.size(), 1U);
  EXPECT_EQ(found.inner[0].name, "h");
  EXPECT_EQ(found.inner[0].largest_error, 0.0);
  EXPECT_TRUE(std::isinf(found.inner[0].signal_to_noise_db));
  EXPECT_EQ(found.inner[0].rows, 0);
  EXPECT_EQ(found.outputs[0].largest_error, 8.0);
}

TEST_P(ModelCompareModels, WhatIsNotFiniteInOneIsCounted) {
  const InputRuns runs = runs_of({{4, -1, -9, 1}});
  const ModelDifferences found = compared(elementwise("Sqrt"), elementwise("Abs"), runs);
  EXPECT_EQ(found.outputs[0].not_finite, 2);
  EXPECT_EQ(found.outputs[0].largest_error, 2.0);
  EXPECT_EQ(found.outputs[0].mean_error, 1.0);
  const ModelDifferences itself = compared(elementwise("Sqrt"), elementwise("Sqrt"), runs);
  EXPECT_EQ(itself.outputs[0].not_finite, 0);
}

TEST_P(ModelCompareModels, OtherPortsAreRefused) {
  const Model plain = elementwise("Abs");
  Sketch wide;
  wide.input("x", {2, 3}).node("Abs", {"x"}, {"y"});
  Sketch renamed;
  renamed.input("image", {2, 2}).node("Abs", {"image"}, {"y"});
  for (Sketch* sketch : {&wide, &renamed}) {
    const Model other = api::Inside::make(sketch->graph({"y"}));
    EXPECT_THAT(thrown<UsageError>([&] { (void)common_inputs(plain, other); }).what(),
                HasSubstr("the models take other inputs: 'x' f32 2x2 and '"));
    EXPECT_THROW((void)compared(plain, other, runs_of({{1, 2, 3, 4}})), UsageError);
  }
  EXPECT_THAT(thrown<ModelError>([&] {
                (void)compared(product({1, 0, 0, 1}), product({1, 0, 0, 1}, "z"), runs_of({}));
              }).what(),
              HasSubstr("no output of the same name: 'y' f32 2x2 and 'z' f32 2x2"));
}

TEST_P(ModelCompareModels, LeNetOf8BitsGivesTheSameAnswers) {
  const Dataset train = read_dataset(MORTON_SOURCE_DIR "/data/mnist", Split::train);
  QuantizeOptions quantization;
  quantization.examples = 64;
  const Model smaller = quantize(lenet(), device(), train, quantization).model;
  CompileOptions options;
  options.batch = 25;
  const CompiledModel first = compile(lenet(), device(), options);
  const CompiledModel second = compile(smaller, device(), options);
  ExampleOptions examples;
  examples.examples = 110;
  const Dataset test = read_dataset(MORTON_SOURCE_DIR "/data/mnist", Split::test);
  const InputRuns runs = example_runs(first, test, examples);
  EXPECT_EQ(runs.runs, 4);
  EXPECT_EQ(runs.examples, 100);
  const ModelDifferences found = compare_models(first, second, runs, ComparedTensors::all);
  ASSERT_EQ(found.outputs.size(), 1U);
  EXPECT_EQ(found.outputs[0].rows, 100);
  EXPECT_GE(found.outputs[0].rows_alike, 98);
  EXPECT_GT(found.outputs[0].signal_to_noise_db, 20.0);
  EXPECT_GE(found.inner.size(), 10U);  // five layers and what lies between them
  for (const TensorDifference& tensor : found.inner) {
    EXPECT_GT(tensor.largest_error, 0.0) << tensor.name;
    EXPECT_GT(tensor.signal_to_noise_db, 15.0) << tensor.name;
  }
  examples.examples = 24;
  EXPECT_THROW((void)example_runs(first, test, examples), UsageError);
}

}  // namespace
}  // namespace morton::test
