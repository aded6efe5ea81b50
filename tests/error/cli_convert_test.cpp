// SPDX-License-Identifier: Apache-2.0
//
// `morton convert`: what the file holds that it writes, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

class CliConvert : public ::testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const {
    return (folder_.path() / name).string();
  }

  /// A product and a softmax of [batch, 3], with facts of all kinds.
  [[nodiscard]] onnx::ModelProto network() const {
    onnx::ModelProto model = model_with_input({-1, 3});
    model.mutable_opset_import(0)->set_version(11);
    model.set_domain("org.example");
    model.set_model_version(7);
    model.set_doc_string("what it does");
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key("stride");
    entry.set_value("32");
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.set_doc_string("how it does it");
    auto& shape = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.mutable_dim(0)->set_dim_param("batch");
    add_weights(model, "w", {3, 4});
    *graph.add_input() = graph.input(0);
    graph.mutable_input(1)->set_name("w");
    add_node(model, "MatMul", {"x", "w"}, "h");
    add_node(model, "Softmax", {"h"}, "y");
    return model;
  }

  /// The converted form of a model.
  [[nodiscard]] onnx::ModelProto converted(const onnx::ModelProto& model,
                                           const std::vector<std::string>& options) {
    std::vector<std::string> words{"convert", save(model, at("net.onnx")), "-o", at("out.onnx")};
    words.insert(words.end(), options.begin(), options.end());
    outcome_ = run_program(words);
    EXPECT_EQ(outcome_.status, 0) << outcome_.text();
    onnx::ModelProto result;
    EXPECT_TRUE(result.ParseFromString(read_bytes(at("out.onnx"))));
    return result;
  }

  [[nodiscard]] Outcome failed(const std::vector<std::string>& options) const {
    std::vector<std::string> words{"convert", save(network(), at("net.onnx")), "-o",
                                   at("out.onnx")};
    words.insert(words.end(), options.begin(), options.end());
    return run_program(words);
  }

  TemporaryFolder folder_;
  Outcome outcome_;
};

std::vector<std::string> operators_of(const onnx::ModelProto& model) {
  std::vector<std::string> names;
  for (const onnx::NodeProto& node : model.graph().node()) names.push_back(node.op_type());
  return names;
}

TEST_F(CliConvert, AFilesFactsStay) {
  const onnx::ModelProto model = converted(network(), {});
  EXPECT_EQ(model.domain(), "org.example");
  EXPECT_EQ(model.model_version(), 7);
  EXPECT_EQ(model.doc_string(), "what it does");
  EXPECT_EQ(model.graph().doc_string(), "how it does it");
  ASSERT_EQ(model.metadata_props_size(), 1);
  EXPECT_EQ(model.metadata_props(0).value(), "32");
  EXPECT_EQ(model.opset_import(0).version(), 11);
  ASSERT_EQ(model.graph().input_size(), 2);
  EXPECT_EQ(model.graph().input(1).name(), "w");
  EXPECT_EQ(model.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
  EXPECT_EQ(model.graph().output(0).name(), "y");
}

TEST_F(CliConvert, WeightsBecomeHalvesAndPortsStay) {
  const onnx::ModelProto model = converted(network(), {"--precision", "f16"});
  EXPECT_THAT(operators_of(model), ::testing::ElementsAre("Cast", "MatMul", "Softmax", "Cast"));
  EXPECT_EQ(model.graph().initializer(0).data_type(), onnx::TensorProto::FLOAT16);
  EXPECT_EQ(model.graph().input(0).type().tensor_type().elem_type(), onnx::TensorProto::FLOAT);
  EXPECT_EQ(model.graph().output(0).type().tensor_type().elem_type(), onnx::TensorProto::FLOAT);
  // A constant that a caller may replace is none any more, which is said.
  EXPECT_EQ(model.graph().input_size(), 1);
  EXPECT_THAT(outcome_.err, HasSubstr("listed as inputs"));
}

TEST_F(CliConvert, PortsBecomeHalvesToo) {
  const onnx::ModelProto model = converted(network(), {"--precision", "f16", "--io", "f16"});
  EXPECT_THAT(operators_of(model), ::testing::ElementsAre("MatMul", "Softmax"));
  EXPECT_EQ(model.graph().input(0).type().tensor_type().elem_type(), onnx::TensorProto::FLOAT16);
  EXPECT_EQ(model.graph().output(0).type().tensor_type().elem_type(), onnx::TensorProto::FLOAT16);
}

TEST_F(CliConvert, ExtentsAreFixedAndAnOpsetIsRaised) {
  const onnx::ModelProto model = converted(network(), {"--batch", "5", "--opset", "21"});
  EXPECT_EQ(model.opset_import(0).version(), 21);
  EXPECT_EQ(model.graph().input(0).type().tensor_type().shape().dim(0).dim_value(), 5);
  const auto& shape = model.graph().output(0).type().tensor_type().shape();
  ASSERT_EQ(shape.dim_size(), 2);
  EXPECT_EQ(shape.dim(0).dim_value(), 5);
  EXPECT_EQ(shape.dim(1).dim_value(), 4);
  EXPECT_THAT(operators_of(model), ::testing::ElementsAre("MatMul", "Softmax"));
}

TEST_F(CliConvert, OpenChannelsAreNotGuessed) {
  onnx::ModelProto model = model_with_input({2, -1, 3, 4});
  model.mutable_opset_import(0)->set_version(18);
  onnx::GraphProto& graph = *model.mutable_graph();
  auto& shape = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(1)->set_dim_param("channels");
  add_weights(model, "s", {2});
  add_weights(model, "b", {2});
  onnx::AttributeProto& groups =
      *add_node(model, "GroupNormalization", {"x", "s", "b"}, "y").add_attribute();
  groups.set_name("num_groups");
  groups.set_type(onnx::AttributeProto::INT);
  groups.set_i(2);
  const std::vector<std::string> words{
      "convert", save(model, at("net.onnx")), "--opset", "21", "-o", at("out.onnx")};
  expect_error(run_program(words), kBadFile, "number of channels is not known");
  EXPECT_EQ(
      converted(model, {"--opset", "21", "--shape", "x:2x6x3x4"}).graph().initializer(0).dims(0),
      6);
}

TEST_F(CliConvert, TheReportNamesWhatStaysInF32) {
  onnx::ModelProto model = network();
  model.mutable_opset_import(0)->set_version(17);
  (void)converted(model, {"--precision", "bf16", "--keep", "node_y", "--format", "json"});
  const auto report = nlohmann::json::parse(outcome_.out);
  ASSERT_EQ(report["in_float"].size(), 1U);
  EXPECT_EQ(report["in_float"][0]["why"], "named");
  EXPECT_EQ(report["constant_bytes_before"], 48);
  EXPECT_EQ(report["constant_bytes"], 24);
}

TEST_F(CliConvert, OtherFormatsAndArchitecturesBecomeOnnx) {
  ASSERT_EQ(run_program({"new", "r17-digits", "-o", at("net.json")}).status, 0);
  expect_success(run_program({"convert", at("net.json"), "-o", at("a.onnx"), "-q"}));
  expect_success(
      run_program({"convert", "lenet5", "--precision", "f16", "-o", at("b.onnx"), "-q"}));
  for (const char* name : {"a.onnx", "b.onnx"}) {
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(read_bytes(at(name))));
    EXPECT_GT(model.graph().node_size(), 3);
  }
}

TEST_F(CliConvert, WhatCannotBeIsSaidBeforeAFileIsWritten) {
  expect_error(failed({"--opset", "9"}), kUsage, "--opset 9: the model is of opset 11");
  expect_error(failed({"--io", "f16"}), kUsage, "--io f16");
  expect_error(failed({"--precision", "f16", "--io", "bf16"}), kUsage, "--io bf16");
  expect_error(failed({"--keep", "none", "--precision", "f16"}), kUsage, "--keep none");
  expect_error(failed({"--precision", "bf16"}), kBadFile, "from opset 13 on");
  expect_error(failed({"--batch", "2", "--shape", "z:1"}), kUsage, "no such input");
  onnx::ModelProto unknown = network();
  add_node(unknown, "Shuffle", {"x"}, "a");
  add_node(unknown, "Riddle", {"x"}, "b");
  const Outcome refused =
      run_program({"convert", save(unknown, at("odd.onnx")), "-o", at("out.onnx")});
  expect_error(refused, kBadFile, "Shuffle");
  EXPECT_THAT(refused.err, HasSubstr("Riddle"));
  EXPECT_FALSE(std::filesystem::exists(at("out.onnx")));
}

}  // namespace
}  // namespace morton::test
