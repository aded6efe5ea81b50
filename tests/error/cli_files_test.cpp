// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "error/cli_program.hpp"
#include "morton/files.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

/// The four commands that read a model; each must refuse a bad one in the same way.
void expect_refused(const std::string& model, const char* part) {
  expect_error(run_program({"inspect", model}), kBadFile, part);
  expect_error(run_program({"plan", model}), kBadFile, part);
  expect_error(run_program({"run", model, "-i", kDigit}), kBadFile, part);
  expect_error(run_program({"bench", model, "-n", "1"}), kBadFile, part);
}

TEST(CliFiles, MissingModel) { expect_refused("no/such/model.onnx", "no/such/model.onnx"); }

TEST(CliFiles, FolderAsModel) { expect_refused("models", "models"); }

TEST(CliFiles, EmptyModel) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "empty.onnx").string();
  write_bytes(path, "");
  expect_refused(path, path.c_str());
}

TEST(CliFiles, TruncatedModel) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "truncated.onnx").string();
  const std::string whole = read_bytes(std::filesystem::path(MORTON_SOURCE_DIR) / kLenet);
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{17}, std::size_t{63}, whole.size() / 2, whole.size() - 1}) {
    SCOPED_TRACE(bytes);
    write_bytes(path, whole.substr(0, bytes));
    expect_error(run_program({"inspect", path}), kBadFile, path);
  }
}

TEST(CliFiles, RandomModel) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "random.onnx").string();
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    SCOPED_TRACE(seed);
    write_bytes(path, random_bytes(1000 + 17 * seed, seed));
    expect_error(run_program({"inspect", path}), kBadFile, path);
  }
}

TEST(CliFiles, UnknownOperator) {
  const TemporaryFolder folder;
  onnx::ModelProto model = model_with_input({2, 3});
  add_node(model, "Frobnicate", {"x"}, "y");
  const std::string path = save(model, folder.path() / "unknown.onnx");
  expect_error(run_program({"plan", path}), kBadFile, "Frobnicate");
  expect_error(run_program({"bench", path, "-n", "1"}), kBadFile, "Frobnicate");
  const Outcome outcome = run_program({"inspect", path});
  expect_success(outcome);
  EXPECT_NE(outcome.out.find("supported: no"), std::string::npos) << outcome.text();
}

TEST(CliFiles, CyclicGraph) {
  const TemporaryFolder folder;
  onnx::ModelProto model = model_with_input({2, 3});
  add_node(model, "Add", {"x", "b"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "Relu", {"b"}, "y");
  expect_refused(save(model, folder.path() / "cyclic.onnx"), "node_");
}

TEST(CliFiles, ShapesInTheModelThatDoNotFit) {
  const TemporaryFolder folder;
  onnx::ModelProto model = model_with_input({2, 3});
  add_weights(model, "w", {4, 5});
  add_node(model, "MatMul", {"x", "w"}, "y");
  expect_error(run_program({"plan", save(model, folder.path() / "shapes.onnx")}), kBadFile,
               "node_y");
}

TEST(CliFiles, MissingAndDamagedImages) {
  const TemporaryFolder folder;
  expect_error(run_program({"run", kLenet, "-i", "input:no_such_digit.png"}), kBadFile,
               "no_such_digit.png");
  const std::string path = (folder.path() / "digit.png").string();
  const std::string whole = read_bytes(std::filesystem::path(MORTON_SOURCE_DIR) / kDigit);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{17}, whole.size() / 2}) {
    SCOPED_TRACE(bytes);
    write_bytes(path, whole.substr(0, bytes));
    expect_error(run_program({"run", kLenet, "-i", path}), kBadFile, path);
  }
  write_bytes(path, random_bytes(500, 1));
  expect_error(run_program({"run", kLenet, "-i", path}), kBadFile, path);
}

TEST(CliFiles, LabelsThatDoNotMatch) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "labels.txt").string();
  write_bytes(path, "zero\none\ntwo\n");
  expect_error(run_program({"run", kLenet, "-i", kDigit, "--labels", path}), kBadFile, "3 labels");
}

TEST(CliFiles, LabelsThatTheProgramHolds) {
  const TemporaryFolder folder;
  onnx::ModelProto model = model_with_input({1, 1000});
  add_node(model, "Relu", {"x"}, "y");
  const std::string path = save(model, folder.path() / "classes.onnx");
  std::vector<float> scores(1000);
  for (const std::size_t of : {0, 2, 999}) scores[of] = 1000.0F - static_cast<float>(of);
  const std::string file = (folder.path() / "x.npz").string();
  write_npz(file, {{{"x", Tensor::from({1, 1000}, scores)}}});
  const Outcome shown = run_program(
      {"run", path, "-i", file, "--labels", "imagenet", "--top-k", "3", "--format", "json"});
  expect_success(shown);
  for (const char* name : {"tench", "great white shark", "toilet tissue"}) {
    EXPECT_THAT(shown.out, testing::HasSubstr(std::string("\"label\": \"") + name + "\""));
  }
  expect_error(run_program({"run", kLenet, "-i", kDigit, "--labels", "imagenet"}), kBadFile,
               "1000 labels");
}

TEST(CliFiles, ShapesOfNoInputBeforeTheSizeOfPictures) {
  expect_error(run_program({"run", "squeezenet1_1", "-i", kDigit, "--preset", "imagenet", "--shape",
                            "image:1x3x64x64"}),
               kUsage, "--shape image: the model has no such input (inputs: input)");
}

TEST(CliFiles, DigitsOfTheDemo) {
  const TemporaryFolder folder;
  expect_error(run_program({"demo", "--data", folder.path().string()}), kBadFile, "t10k-images");
  write_bytes(folder.path() / "t10k-images-idx3-ubyte", random_bytes(63, 1));
  expect_error(run_program({"demo", "--data", folder.path().string()}), kBadFile, "t10k-images");
}

}  // namespace
}  // namespace morton::test
