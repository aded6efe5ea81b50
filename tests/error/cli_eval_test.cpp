// SPDX-License-Identifier: Apache-2.0
//
// What `morton eval` prints of models whose answers are known, and what it takes for granted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "error/cli_program.hpp"
#include "formats/arrays/npy.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

class CliEval : public ::testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] static Tensor labels(const std::vector<std::int64_t>& values) {
    return Tensor::from({static_cast<std::int64_t>(values.size())}, values);
  }
  /// Examples whose `classes` values are 1 at the answer, else 0.
  void write_answers(std::int64_t classes, const std::vector<std::int64_t>& truths,
                     const std::vector<std::int64_t>& answers) const {
    Tensor x = Tensor::allocate(DType::f32, {static_cast<std::int64_t>(answers.size()), classes});
    for (std::size_t i = 0; i < answers.size(); ++i) {
      x.set(static_cast<std::int64_t>(i) * classes + answers[i], 1.0);
    }
    write_npz(at("data.npz"), {{{"x_test", x}, {"y_test", labels(truths)}}});
  }
  /// One value for each example.
  void write_values(const std::vector<float>& values,
                    const std::vector<std::int64_t>& truths) const {
    const auto count = static_cast<std::int64_t>(values.size());
    write_npz(at("data.npz"),
              {{{"x_test", Tensor::from({count, 1}, values)}, {"y_test", labels(truths)}}});
  }
  /// A model of one operator whose input's first extent is open, and others that are -1.
  [[nodiscard]] std::string model(const std::string& type, std::vector<std::int64_t> shape) const {
    onnx::ModelProto made = model_with_input(shape);
    add_node(made, type, {"x"}, "y");
    open_extents(made, shape);
    return save(made, at("model.onnx"));
  }
  static void open_extents(onnx::ModelProto& model, const std::vector<std::int64_t>& shape) {
    auto& stated = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i > 0 && shape[i] >= 0) continue;
      stated.mutable_shape()
          ->mutable_dim(static_cast<int>(i))
          ->set_dim_param("extent" + std::to_string(i));
    }
  }
  /// Means of each channel of pictures of any size, times 0.25: two classes of one channel.
  [[nodiscard]] std::string picture_model(std::int64_t batch, std::int64_t side) const {
    onnx::ModelProto made = model_with_input({batch, 1, side, side});
    add_node(made, "GlobalAveragePool", {"x"}, "mean");
    add_node(made, "Flatten", {"mean"}, "flat");
    add_weights(made, "w", {1, 2});
    add_node(made, "MatMul", {"flat", "w"}, "y");
    if (batch < 0) open_extents(made, {batch, 1, side, side});
    return save(made, at("model.onnx"));
  }
  [[nodiscard]] Outcome eval(const std::string& path, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"eval", path, "-d", "cpu"};
    if (std::ranges::find(more, "--data") == more.end()) {
      words.insert(words.end(), {"--data", at("data.npz")});
    }
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  TemporaryFolder folder_;
};

TEST_F(CliEval, ShowsTheMatrix) {
  write_answers(4, {0, 0, 1, 1, 2, 2}, {0, 1, 1, 1, 2, 0});
  const Outcome table = eval(model("Relu", {1, 4}));
  expect_success(table);
  EXPECT_EQ(table.out,
            "4 of 6 right (66.67 %)\n\n"
            "class  0  1  2  3     right\n"
            "0      1  1  .  .   50.00 %\n"
            "1      .  2  .  .  100.00 %\n"
            "2      1  .  1  .   50.00 %\n"
            "3      .  .  .  .         -\n");
  const Outcome markdown = eval(at("model.onnx"), {"--format", "md"});
  EXPECT_THAT(markdown.out, HasSubstr("\n| class | 0 | 1 | 2 | 3 |    right |\n"
                                      "|-------|--:|--:|--:|--:|---------:|\n"
                                      "| 0     | 1 | 1 | . | . |  50.00 % |\n"));
}

TEST_F(CliEval, NamesTheClasses) {
  std::string records;
  for (const int label : {2, 0, 1, 2}) {
    records += static_cast<char>(label);
    for (int channel = 0; channel < 3; ++channel) {
      records += std::string(1024, channel == label ? '\xff' : '\0');
    }
  }
  write_bytes(at("test_batch.bin"), records);
  write_bytes(at("batches.meta.txt"), "red\ngreen\nblue\nd\ne\nf\ng\nh\ni\nj\n");
  onnx::ModelProto means = model_with_input({2, 3, 32, 32});
  add_node(means, "GlobalAveragePool", {"x"}, "mean");
  add_node(means, "Flatten", {"mean"}, "y");
  const Outcome outcome = eval(save(means, at("model.onnx")), {"--data", folder_.path().string()});
  expect_success(outcome);
  EXPECT_EQ(outcome.out,
            "4 of 4 right (100.00 %)\n\n"
            "class  red  green  blue     right\n"
            "red      1      .     .  100.00 %\n"
            "green    .      1     .  100.00 %\n"
            "blue     .      .     2  100.00 %\n");
}

TEST_F(CliEval, ShowsMistakesOfManyClasses) {
  write_answers(25, {3, 3, 24, 5, 6}, {7, 7, 0, 5, 6});
  const Outcome outcome = eval(model("Relu", {1, 25}));
  expect_success(outcome);
  EXPECT_EQ(outcome.out,
            "2 of 5 right (40.00 %)\n\n"
            "the most frequent mistakes:\n"
            "shows  answer  times\n"
            "3      7           2\n"
            "24     0           1\n");
  write_answers(25, {3, 24}, {3, 24});
  EXPECT_EQ(eval(at("model.onnx")).out, "2 of 2 right (100.00 %)\n\nno mistakes\n");
}

/// One output tells two classes apart: above 0, or 0.5 where a Sigmoid comes last.
TEST_F(CliEval, TellsTwoClassesApartByOneOutput) {
  write_values({-3.0F, -0.25F, 0.0F, 0.25F, 7.0F}, {1, 1, 1, 0, 0});
  const Outcome logits = eval(model("Neg", {1, 1}));
  expect_success(logits);
  EXPECT_EQ(logits.out,
            "4 of 5 right (80.00 %)\n\n"
            "class  0  1     right\n"
            "0      2  .  100.00 %\n"
            "1      1  2   66.67 %\n");
  EXPECT_THAT(logits.err, HasSubstr("class 1 above 0,"));
  const Outcome higher = eval(at("model.onnx"), {"--threshold", "1", "--format", "json"});
  expect_success(higher);
  const auto found = nlohmann::json::parse(higher.out);
  EXPECT_EQ(found["threshold"], 1.0);
  EXPECT_EQ(found["right"], 3);
  write_values({-3.0F, -0.25F, 0.25F, 7.0F}, {0, 0, 1, 1});
  const Outcome shares = eval(model("Sigmoid", {1, 1}), {"--format", "json"});
  expect_success(shares);
  EXPECT_EQ(nlohmann::json::parse(shares.out)["right"], 4);
  EXPECT_EQ(nlohmann::json::parse(shares.out)["threshold"], 0.5);
  write_values({1.0F, 2.0F, 3.0F}, {1, 0, 2});
  expect_error(eval(at("model.onnx")), kBadFile, "the label 2; expected 0 to 1 for 2 classes");
}

TEST_F(CliEval, AThresholdIsOfOneOutput) {
  write_values({-1.0F, 1.0F}, {0, 1});
  const std::string path = model("Sigmoid", {1, 1});
  expect_success(run_program({"compile", path, "-o", at("ahead"), "-b", "2", "-d", "cpu"}));
  expect_error(eval(at("ahead")), kUsage, "give --threshold");
  const Outcome outcome = eval(at("ahead"), {"--threshold", "0.5"});
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("2 of 2 right"));
  write_answers(3, {1}, {1});
  expect_error(eval(model("Relu", {1, 3}), {"--threshold", "0.5"}), kUsage,
               "--threshold: the model has 3 outputs");
}

/// Open extents of pictures are those of the data; the batch may be any.
TEST_F(CliEval, TakesTheSizeOfThePictures) {
  write_npz(at("data.npz"), {{{"x_test", Tensor::allocate(DType::u8, {5, 9, 7})},
                              {"y_test", labels({0, 0, 0, 0, 0})}}});
  const std::string path = picture_model(-1, -1);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"-b", "2"}, {"--shape", "x:3x1x9x7"}}) {
    const Outcome outcome = eval(path, more);
    expect_success(outcome);
    EXPECT_THAT(outcome.out, HasSubstr("5 of 5 right"));
    EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("pictures are")));
  }
  expect_error(eval(path, {"-b", "4", "--shape", "x:3x1x9x7"}), kUsage, "--batch 4");
}

TEST_F(CliEval, AFixedBatchIsNotOverruled) {
  write_answers(3, {1, 2, 0}, {1, 2, 1});
  onnx::ModelProto fixed = model_with_input({2, 3});
  add_node(fixed, "Relu", {"x"}, "y");
  const std::string path = save(fixed, at("fixed.onnx"));
  expect_error(eval(path, {"-b", "7"}), kUsage, "--batch 7: the model's file fixes the batch, 2");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"-b", "2"}}) {
    const Outcome outcome = eval(path, more);
    expect_success(outcome);
    EXPECT_THAT(outcome.out, HasSubstr("2 of 3 right"));
  }
}

TEST_F(CliEval, SaysWhatItCutsOfPictures) {
  const std::string path = picture_model(2, 32);
  for (const Shape& shape : {Shape{3, 40, 33}, Shape{3, 1, 40, 33}}) {
    write_npz(at("data.npz"),
              {{{"x_test", Tensor::allocate(DType::f32, shape)}, {"y_test", labels({0, 0, 0})}}});
    const Outcome outcome = eval(path);
    expect_success(outcome);
    EXPECT_THAT(outcome.err, HasSubstr("pictures are 40x33, the network sees 32x32"));
  }
}

/// Before the model is looked at, which is no model here.
TEST_F(CliEval, ShowsClassifiersOnly) {
  const Tensor values = Tensor::from({2, 1}, std::vector<float>{0.5F, 1.5F});
  write_npz(at("data.npz"), {{{"x_test", values}, {"y_test", values}}});
  write_bytes(at("model.onnx"), "no model");
  expect_error(eval(at("model.onnx")), kUsage,
               "its targets are values, where labels of classes are expected (integers)");
}

TEST_F(CliEval, OptionsAreNamedAsTheyAreTyped) {
  write_answers(3, {1}, {1});
  expect_error(eval(model("Relu", {1, 3}), {"--deviation", "0"}), kUsage,
               "--deviation: expected numbers above 0");
  expect_error(eval(at("model.onnx"), {"--threshold", "much"}), kUsage,
               "--threshold: expected a number, got 'much'");
}

}  // namespace
}  // namespace morton::test
