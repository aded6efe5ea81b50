// SPDX-License-Identifier: Apache-2.0
//
// `morton quantize`, and `morton compare` of a model with its form of 8 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "error/cli_program.hpp"
#include "formats/arrays/npy.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

class CliQuantize : public ::testing::Test {
 protected:
  /// A product of 3 and 4, and some examples of 3 values.
  void SetUp() override {
    onnx::ModelProto model = model_with_input({-1, 3});
    model.mutable_opset_import(0)->set_version(17);
    auto& batch = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    batch.mutable_shape()->mutable_dim(0)->set_dim_param("batch");
    add_weights(model, "w", {3, 4});
    add_node(model, "MatMul", {"x", "w"}, "h");
    add_node(model, "Softmax", {"h"}, "y");
    save(model, at("net.onnx"));
    write_examples(17);
  }
  [[nodiscard]] std::string at(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  void write_examples(std::int64_t count) const {
    std::mt19937_64 generator(count);
    std::normal_distribution<double> normal;
    Tensor x = Tensor::allocate(DType::f32, {count, 3});
    for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, normal(generator));
    const Tensor y = Tensor::from({count}, std::vector<std::int64_t>(count, 0));
    write_npz(at("data.npz"), {{{"x", x}, {"y", y}}});
  }
  [[nodiscard]] Outcome quantize(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"quantize", at("net.onnx"), "-d", "cpu", "--data"};
    words.push_back(at("data.npz"));
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  [[nodiscard]] Outcome compare(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"compare", at("net.onnx"), "-d", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(CliQuantize, OutputsOfOtherNamesAreRefusedAtOnce) {
  for (const char* name : {"small.json", "small"}) {
    // Nothing was read yet: of the data it would say more.
    const Outcome outcome =
        run_program({"quantize", "no.onnx", "--data", "nowhere", "-o", at(name)});
    expect_error(outcome, kUsage, "a model of 8 bits is written to an .onnx file");
  }
}

TEST_F(CliQuantize, OptionsThatChangeNothingAreRefused) {
  const std::string output = at("small.onnx");
  expect_error(quantize({"-o", output, "--percentile", "99"}), kUsage,
               "--percentile: is read with --range percentile alone");
  expect_error(quantize({"-o", output, "--keep-worst", "1"}), kUsage,
               "--keep-worst 1: expected fewer than the 1 layers");
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(CliQuantize, WhatIsOf8BitsAlreadyIsNamed) {
  const std::string smaller = at("small.onnx");
  expect_success(quantize({"-o", smaller}));
  expect_error(run_program({"quantize", smaller, "-d", "cpu", "--data", at("data.npz"), "-o",
                            at("again.onnx")}),
               kUsage, "its weights are codes already");
}

TEST_F(CliQuantize, TypesThatAreNoneListThoseThatAre) {
  expect_error(run_program({"run", at("net.onnx"), "--precision", "int8"}), kUsage,
               "--precision: expected one of f32, f16, bf16, tf32; got 'int8'");
}

TEST_F(CliQuantize, MuchNoiseIsWarnedOf) {
  const Outcome right = quantize({"-o", at("small.onnx")});
  expect_success(right);
  EXPECT_THAT(right.out, HasSubstr(" on 17 examples; weights: 32 bytes, 48 before"));
  EXPECT_EQ(right.err.find("warning"), std::string::npos) << right.err;
  const Outcome noisy =
      quantize({"-o", at("small.onnx"), "--range", "percentile", "--percentile", "51"});
  expect_success(noisy);
  EXPECT_THAT(noisy.err, HasSubstr("dB, below 15: check the answers"));
  write_examples(1);
  EXPECT_THAT(quantize({"-o", at("small.onnx")}).out, HasSubstr(" on 1 example; "));
}

TEST_F(CliQuantize, ComparedWithTheModelOfF32) {
  const std::string smaller = at("small.onnx");
  expect_success(quantize({"-o", smaller}));
  const Outcome outcome =
      compare({"--against", smaller, "--data", at("data.npz"), "--layers", "--format", "json"});
  expect_success(outcome);
  const nlohmann::json result = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(result.at("inputs"), "17 examples of " + at("data.npz") + " (the training part)");
  ASSERT_EQ(result.at("tensors").size(), 2U) << outcome.out;
  const nlohmann::json& y = result.at("tensors").at(0);
  EXPECT_EQ(y.at("name"), "y");
  EXPECT_EQ(y.at("kind"), "output");
  EXPECT_EQ(y.at("rows"), 17);
  EXPECT_GT(y.at("signal_to_noise_db").get<double>(), 25.0);
  EXPECT_GT(y.at("largest_error").get<double>(), 0.0);
  EXPECT_EQ(result.at("tensors").at(1).at("name"), "h");
  const Outcome text = compare({"--against", smaller, "--batch", "5"});
  expect_success(text);
  EXPECT_THAT(text.out, HasSubstr("random inputs of seed 1"));
  EXPECT_THAT(text.out, HasSubstr(" of 5\n"));
}

TEST_F(CliQuantize, WhatTwoModelsDoNotReadIsRefused) {
  const std::string same = at("net.onnx");
  expect_error(compare({"--data", at("data.npz")}), kUsage, "--against names the other");
  expect_error(compare({"--against", same, "--ref", "x.npz"}), kUsage, "reads no --ref");
  expect_error(compare({"--against", same, "--rtol", "1e-3"}), kUsage, "reads no --rtol");
  expect_error(compare({"--against", same, "--examples", "5"}), kUsage, "examples of --data");
  expect_error(compare({"--against", same, "--data", at("data.npz"), "-i", "x.npz"}), kUsage,
               "both bring inputs");
  expect_error(compare({"--against", at("absent.onnx")}), kBadFile, "absent.onnx");
  expect_error(compare({"--against", kLenet}), kUsage,
               "the models take other inputs: 'x' f32 batchx3 and 'input' f32 batchx1x32x32");
}

}  // namespace
}  // namespace morton::test
