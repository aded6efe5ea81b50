// SPDX-License-Identifier: Apache-2.0
//
// `inspect --support`: what can be computed, before anything runs.
#include <gtest/gtest.h>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

class CliSupport : public ::testing::Test {
 protected:
  std::string saved(const onnx::ModelProto& model) const {
    return save(model, folder_.path() / "model.onnx");
  }
  static Outcome support_of(const std::string& path, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"inspect", path, "--support"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  static void expect_line(const Outcome& outcome, const std::string& part) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.text();
  }

  TemporaryFolder folder_;
};

TEST_F(CliSupport, SaysWhereEachNodeIsComputed) {
  onnx::ModelProto model = model_with_input({17, 3});
  add_weights(model, "w", {3});
  add_node(model, "Shape", {"x"}, "shape");
  add_node(model, "Neg", {"w"}, "negative");
  add_node(model, "Identity", {"x"}, "same");
  add_node(model, "Add", {"same", "negative"}, "sum");
  add_node(model, "Reshape", {"sum", "shape"}, "y");
  const Outcome outcome = support_of(saved(model));
  expect_success(outcome);
  expect_line(outcome, "node_shape     Shape     host\n");
  expect_line(outcome, "node_negative  Neg       host\n");
  expect_line(outcome, "node_same      Identity  nowhere\n");
  expect_line(outcome, "node_sum       Add       device\n");
  expect_line(outcome, "node_y         Reshape   nowhere\n");
  expect_line(outcome, "device: 1, host: 2, nowhere: 2, waits: 0, unsupported: 0, unknown: 0\n");
  expect_line(outcome, "supported: yes\n");
}

TEST_F(CliSupport, InspectInfersWhatOutputsDoNotDeclare) {
  onnx::ModelProto model = model_with_input({17, 3});
  onnx::GraphProto& graph = *model.mutable_graph();
  auto& shape = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(0)->set_dim_param("rows");
  add_node(model, "Relu", {"x"}, "y");
  graph.mutable_output(0)->clear_type();
  add_node(model, "ArgMax", {"y"}, "place");
  graph.add_output()->set_name("place");
  const Outcome outcome = run_program({"inspect", saved(model)});
  expect_success(outcome);
  expect_line(outcome, "  y  f32  rowsx3\n");
  expect_line(outcome, "  place  i64  1x3\n");
}

TEST_F(CliSupport, InspectSaysWhetherAModelCanBeTrained) {
  expect_line(run_program({"inspect", kLenet}), "trainable: yes\n");
  expect_line(run_program({"inspect", "unet"}), "trainable: yes (where open extents are 64)\n");
  expect_line(run_program({"inspect", "r17-digits"}), "trainable: yes\n");
}

TEST_F(CliSupport, NamesAllThatCannotBeComputedAtOnce) {
  onnx::ModelProto model = model_with_input({17, 3});
  add_weights(model, "w", {5, 2});
  add_node(model, "Relux", {"x"}, "a");
  add_node(model, "Abs", {"a"}, "b");
  add_node(model, "MatMul", {"x", "w"}, "c");
  add_node(model, "Frobnicate", {"b", "c"}, "d");
  add_node(model, "Tanh", {"x"}, "e");
  add_node(model, "Mul", {"d", "e"}, "y");
  const Outcome outcome = support_of(saved(model));
  EXPECT_EQ(outcome.status, kCheckFailed) << outcome.text();
  expect_line(outcome, "the operator 'Relux' is not supported; near it: Relu, ");
  expect_line(outcome, "the operator 'Frobnicate' is not supported (README.md");
  expect_line(outcome, "node_b  Abs         unknown: depends on 'node_a'\n");
  expect_line(outcome, "node_c  MatMul      unsupported\n");
  expect_line(outcome, "node_e  Tanh        device\n");
  expect_line(outcome, "device: 1, host: 0, nowhere: 0, waits: 0, unsupported: 3, unknown: 2\n");
  expect_line(outcome, "supported: no\n");
}

TEST_F(CliSupport, SaysWhyAnOperatorOfOnnxIsRefused) {
  onnx::ModelProto model = model_with_input({17, 3});
  add_node(model, "StringNormalizer", {"x"}, "y");
  const Outcome outcome = support_of(saved(model));
  EXPECT_EQ(outcome.status, kCheckFailed) << outcome.text();
  expect_line(outcome, "the operator 'StringNormalizer' is not supported: it computes with text (");
}

TEST_F(CliSupport, WhatRunsRefusesAllAtOnceBeforeItLooksAtInputs) {
  onnx::ModelProto model = model_with_input({17, 3});
  add_node(model, "Relux", {"x"}, "a");
  add_node(model, "Frobnicate", {"a"}, "y");
  const std::string path = saved(model);
  for (const char* command : {"run", "bench", "profile", "compare", "plan"}) {
    const Outcome outcome = run_program({command, path});
    expect_error(outcome, kBadFile, "2 nodes cannot be computed");
    EXPECT_NE(outcome.err.find("'Relux'"), std::string::npos) << outcome.text();
    EXPECT_NE(outcome.err.find("'Frobnicate'"), std::string::npos) << outcome.text();
  }
}

TEST_F(CliSupport, OpenExtentsLeaveShapesUnknown) {
  onnx::ModelProto model = model_with_input({1, 2, 1, 1});
  auto& shape = *model.mutable_graph()
                     ->mutable_input(0)
                     ->mutable_type()
                     ->mutable_tensor_type()
                     ->mutable_shape();
  shape.mutable_dim(2)->set_dim_param("height");
  add_weights(model, "w", {3, 2, 3, 3});
  add_node(model, "Conv", {"x", "w"}, "y");
  const std::string path = saved(model);
  const Outcome open = support_of(path);
  expect_success(open);
  expect_line(open, "looked at without shapes: ");
  expect_line(open, "--shape");
  const Outcome small = support_of(path, {"--shape", "x:1x2x7x1"});
  EXPECT_EQ(small.status, kCheckFailed) << small.text();
  expect_line(small, "node_y  Conv      unsupported\n");
}

TEST_F(CliSupport, WrongOptionsAreNoAnswer) {
  expect_error(support_of(kLenet, {"--shape", "nothing:1x2"}), kUsage, "no such input");
  expect_error(support_of(kLenet, {"--shape", "input:1x1"}), kUsage, "dimensions");
}

TEST_F(CliSupport, JsonHoldsTheSame) {
  const Outcome outcome = support_of(kLenet, {"--format", "json"});
  expect_success(outcome);
  expect_line(outcome, "\"supported\": true");
  expect_line(outcome, "\"device\": 18");
}

TEST_F(CliSupport, OneViewAtATime) {
  expect_error(support_of(kLenet, {"--dot"}), kUsage, "--support");
  expect_error(run_program({"inspect", kLenet, "--batch", "3"}), kUsage, "--support");
}

}  // namespace
}  // namespace morton::test
