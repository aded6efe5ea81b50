// SPDX-License-Identifier: Apache-2.0
//
// R17's files at work: its network definition, and kernels from a library of its form.
#include <algorithm>

#include "api/inside.hpp"
#include "model/model_check.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

constexpr const char* kNetwork = MORTON_SOURCE_DIR "/examples/r17/network.json";
constexpr const char* kLibrary = MORTON_SOURCE_DIR "/examples/r17/library.json";

CompileOptions with_kernel(const std::string& codename, std::int64_t batch) {
  CompileOptions options;
  options.batch = batch;
  options.catalogue_files = {kLibrary};
  if (!codename.empty()) options.use = {{"gemm", codename}};
  return options;
}

/// Affine layers of these widths with inputs as columns, a sigmoid or ReLU behind each.
Graph columns_network(const std::vector<std::int64_t>& widths) {
  NetworkBuilder network("columns", 7);
  TensorId x = network.input("x", {widths[0], -1});
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const TensorId weights = network.parameter({widths[i], widths[i - 1]}, widths[i - 1]);
    x = network.node("MatMul", {weights, x});
    x = network.node("Add", {x, network.parameter({widths[i], 1}, 4)});
    x = network.node(i % 2 == 1 ? "Sigmoid" : "Relu", {x});
  }
  network.output(x);
  return network.finish();
}

class ModelR17 : public ModelTest {
 protected:
  void expect_right(const Graph& graph, const CompileOptions& options) {
    SCOPED_TRACE(graph.name + ", batch " + std::to_string(options.batch) + ", " +
                 (options.use.empty() ? "any kernel" : options.use.at("gemm")));
    expect_reference(graph, device(), random_inputs(graph, options.batch, 40), options);
  }
};
MORTON_MODELS_ON_EVERY_DEVICE(ModelR17);

TEST_P(ModelR17, TheExampleIsRight) {
  const Graph graph = Inside::of(Model::load(kNetwork));
  for (const char* kernel : {"", "gemm.naive", "product_rm", "product_morton"}) {
    for (const std::int64_t batch : some_of<std::int64_t>({3, 1, 17}))
      expect_right(graph, with_kernel(kernel, batch));
  }
}

TEST_P(ModelR17, LibraryKernelsAreRightAtOddSizes) {
  for (const char* kernel : {"product_rm", "product_morton"}) {
    for (const std::int64_t batch : some_of<std::int64_t>({17, 1, 3, 63})) {
      expect_right(columns_network({1, 3, 17, 63, 1}), with_kernel(kernel, batch));
      if (is_long_run()) expect_right(columns_network({63, 100, 5}), with_kernel(kernel, batch));
    }
  }
}

/// Figure 4.1's entries, which state nothing, and kernels of biases and activations that do.
TEST_P(ModelR17, LibraryKernelsOfEveryOperationAreRight) {
  for (const std::int64_t batch : some_of<std::int64_t>({3, 1, 17})) {
    CompileOptions options = with_kernel("mat3", batch);
    options.use.insert({{"bias", "add_column"}, {"sigmoid", "sigmoid1"}, {"relu", "relu_fours"}});
    options.exclude = {"gemm.swapped"};
    expect_right(columns_network({1, 3, 16, 64}), options);
    expect_right(columns_network({63, 100, 8}), options);
  }
}

TEST_P(ModelR17, LibraryKernelsServeOtherModelsToo) {
  for (const char* kernel : {"product_rm", "product_morton"}) {
    CompileOptions options = with_kernel(kernel, 3);
    expect_right(make_mlp(1), options);
    options.use.emplace("conv2d", "conv2d.im2col_gemm");
    expect_right(make_residual_network(3), options);
  }
}

TEST_P(ModelR17, TheKernelThatWasAskedForRuns) {
  const Model model = Model::load(kNetwork);
  for (const std::string kernel : {"product_rm", "product_morton"}) {
    const CompiledModel compiled = compile(model, device(), with_kernel(kernel, 3));
    const auto steps = compiled.steps();
    EXPECT_EQ(std::count_if(steps.begin(), steps.end(),
                            [&](const StepInfo& step) { return step.kernel == kernel; }),
              2);
  }
}

/// R17's conclusion: products, biases and activations on Morton 4-2 follow each other as they lie.
TEST_P(ModelR17, TheChainIsRepackedAtItsEndsAlone) {
  CompileOptions options;
  options.batch = 17;
  options.exclude = {"gemm.swapped"};
  options.use = {{"gemm", "gemm.morton_4_2"},
                 {"bias", "bias.morton_4_2"},
                 {"sigmoid", "sigmoid.unbound"},
                 {"relu", "relu.unbound"}};
  const Graph graph = columns_network({63, 100, 17, 10});
  expect_right(graph, options);
  const auto steps = compile(Inside::make(graph), device(), options).steps();
  const auto is_pack = [](const StepInfo& step) { return step.kernel.starts_with("pack."); };
  ASSERT_EQ(steps.size(), 11U);
  EXPECT_TRUE(is_pack(steps.front()));
  EXPECT_EQ(std::ranges::count_if(steps, is_pack), 2);
  // The result is packed before or behind the last activation.
  EXPECT_EQ(std::count_if(steps.end() - 2, steps.end(), is_pack), 1);
}

TEST_P(ModelR17, BothFormatsGiveTheSameAnswers) {
  const morton::test::TemporaryFolder folder;
  const Model made = new_model("r17-digits", 3);
  const std::vector<NamedTensor> inputs = random_inputs(Inside::of(made), 17, 5);
  CompileOptions options;
  options.batch = 17;
  std::vector<std::vector<float>> answers;
  for (const char* name : {"digits.onnx", "digits.json"}) {
    const std::string path = (folder.path() / name).string();
    made.save(path);
    const CompiledModel compiled = compile(Model::load(path), device(), options);
    Session session(compiled);
    const std::vector<NamedTensor> outputs = session.run(inputs);
    const auto values = outputs.at(0).tensor.as<float>();
    answers.emplace_back(values.begin(), values.end());
  }
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_EQ(answers[0].size(), 170U);
}

}  // namespace
}  // namespace morton::test
