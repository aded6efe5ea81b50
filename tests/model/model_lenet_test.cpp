// SPDX-License-Identifier: Apache-2.0
//
// The repository's LeNet-5 against ONNX Runtime's answers, the reference network and the labels.
#include <algorithm>
#include <cmath>

#include "api/inside.hpp"
#include "model/model_check.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class ModelLenet : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelLenet);

constexpr std::int64_t kPixels = 32 * 32;
constexpr std::int64_t kDigitKinds = 10;

Tensor named(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const auto& tensor : tensors) {
    if (tensor.name == name) return tensor.tensor;
  }
  throw std::runtime_error("no tensor " + name);
}

Tensor expected_file(const std::string& name) {
  return named(read_tensors(MORTON_SOURCE_DIR "/models/lenet5.expected.npz"), name);
}

/// The first `count` of the 20 digits that the expected answers are for.
Tensor first_digits(std::int64_t count) {
  const Tensor all = expected_file("input");
  Tensor some = Tensor::allocate(DType::f32, {count, 1, 32, 32});
  const auto from = all.as<float>();
  std::copy_n(from.begin(), count * kPixels, some.as_mutable<float>().begin());
  return some;
}

CompileOptions with_batch(std::int64_t batch) {
  CompileOptions options;
  options.batch = batch;
  return options;
}

TEST_P(ModelLenet, AnswersAsOnnxRuntimeAtSeveralBatches) {
  const Tensor expected = expected_file("probabilities");
  for (const std::int64_t batch : {1, 3, 20}) {
    SCOPED_TRACE("batch " + std::to_string(batch));
    Session session(compile(lenet(), device(), with_batch(batch)));
    const std::vector<NamedTensor> inputs{{"input", first_digits(batch)}};
    const auto outputs = session.run(inputs);
    ASSERT_EQ(outputs.size(), 1U);
    EXPECT_EQ(outputs[0].name, "probabilities");
    ASSERT_EQ(outputs[0].tensor.shape(), (Shape{batch, kDigitKinds}));
    const auto got = outputs[0].tensor.as<float>();
    const auto want = expected.as<float>();
    for (std::size_t i = 0; i < got.size(); ++i) {
      // Two f32 implementations of a network whose answers are probabilities.
      EXPECT_TRUE(std::fabs(got[i] - want[i]) <= 2e-5F)
          << "element " << i << ": " << got[i] << " and not " << want[i];
    }
  }
}

TEST_P(ModelLenet, StaysWithinTheReferencesBoundAtSeveralBatches) {
  for (const std::int64_t batch : {1, 3, 20}) {
    SCOPED_TRACE("batch " + std::to_string(batch));
    expect_reference(Inside::of(lenet()), device(), {{"input", first_digits(batch)}},
                     with_batch(batch));
  }
}

TEST_P(ModelLenet, EveryLayerIsRight) {
  expect_reference(with_all_outputs(Inside::of(lenet())), device(), {{"input", first_digits(3)}},
                   with_batch(3));
}

TEST_P(ModelLenet, IsRightWithoutAnyOptionalPass) {
  CompileOptions options = with_batch(3);
  for (const char* pass : {"fold_constants", "remove_identities", "fuse_epilogues"}) {
    options.skip_passes = {pass};
    SCOPED_TRACE(pass);
    expect_reference(Inside::of(lenet()), device(), {{"input", first_digits(3)}}, options);
  }
}

TEST_P(ModelLenet, IsRightWithEveryKernelOfProducts) {
  const std::vector<std::pair<std::string, std::string>> uses{{"gemm", "gemm.naive"},
                                                              {"gemm", "gemm.morton_4_2"},
                                                              {"gemm", "gemm.tile"},
                                                              {"conv2d", "conv2d.im2col_gemm"},
                                                              {"conv2d", "conv2d.naive"}};
  for (const auto& [family, name] : uses) {
    SCOPED_TRACE(name);
    CompileOptions options = with_batch(3);
    options.use = {{family, name}};
    expect_reference(Inside::of(lenet()), device(), {{"input", first_digits(3)}}, options);
  }
}

TEST_P(ModelLenet, FindsTheDigitsOfTheTestSet) {
  constexpr std::int64_t kDigits = 200;
  constexpr std::int64_t kBatch = 50;
  const std::string folder = MORTON_SOURCE_DIR "/data/mnist/";
  const Tensor images = read_tensors(folder + "t10k-images-idx3-ubyte.gz")[0].tensor;
  const Tensor labels = read_tensors(folder + "t10k-labels-idx1-ubyte.gz")[0].tensor;
  const auto pixels = images.as<std::uint8_t>();
  Session session(compile(lenet(), device(), with_batch(kBatch)));
  std::int64_t right = 0;
  for (std::int64_t first = 0; first < kDigits; first += kBatch) {
    Tensor input = Tensor::allocate(DType::f32, {kBatch, 1, 32, 32});
    const auto to = input.as_mutable<float>();
    for (std::int64_t d = 0; d < kBatch; ++d) {
      for (std::int64_t y = 0; y < 28; ++y) {
        for (std::int64_t x = 0; x < 28; ++x) {
          const auto from = static_cast<std::size_t>(((first + d) * 28 + y) * 28 + x);
          to[static_cast<std::size_t>(d * kPixels + (y + 2) * 32 + x + 2)] =
              static_cast<float>(pixels[from]) / 255.0F;
        }
      }
    }
    const std::vector<NamedTensor> inputs{{"input", input}};
    const auto outputs = session.run(inputs);
    const auto answers = outputs[0].tensor.as<float>();
    for (std::int64_t d = 0; d < kBatch; ++d) {
      const auto row = answers.begin() + d * kDigitKinds;
      const auto best = std::max_element(row, row + kDigitKinds) - row;
      if (static_cast<double>(best) == labels.at(first + d)) ++right;
    }
  }
  // 99.00 % of all 2,000; the first 200 have their own share of the 20 wrong ones.
  EXPECT_GE(right, kDigits * 97 / 100);
}

}  // namespace
}  // namespace morton::test
