// SPDX-License-Identifier: Apache-2.0
//
// Models of ai.onnx.ml: lists that become tensors, labels, maps, and what a graph may take in
// memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx.pb.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "formats/onnx/onnx_cost.hpp"
#include "formats/onnx/onnx_export.hpp"
#include "formats/onnx/onnx_import.hpp"
#include "host/formats_files.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

onnx::NodeProto& add_ml_node(onnx::ModelProto& model, const std::string& op,
                             const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type(op);
  node.set_domain("ai.onnx.ml");
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

void set_texts(onnx::NodeProto& node, const std::string& name,
               const std::vector<std::string>& texts) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& text : texts) attribute.add_strings(text);
}

void set_ints(onnx::NodeProto& node, const std::string& name,
              const std::vector<std::int64_t>& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

/// A classifier of "cat" and "dog" and the maps of its scores, with lists that nobody reads here.
onnx::ModelProto pets() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  onnx::OperatorSetIdProto& import = *model.add_opset_import();
  import.set_domain("ai.onnx.ml");
  import.set_version(3);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::ValueInfoProto& x = *graph.add_input();
  x.set_name("x");
  onnx::TypeProto::Tensor& type = *x.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_value(3);
  type.mutable_shape()->add_dim()->set_dim_value(2);
  onnx::NodeProto& trees = add_ml_node(model, "TreeEnsembleClassifier", {"x"}, {"label", "scores"});
  set_texts(trees, "classlabels_strings", {"cat", "dog"});
  set_texts(trees, "nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF"});
  set_ints(trees, "nodes_treeids", {0, 0, 0});
  set_texts(add_ml_node(model, "ZipMap", {"scores"}, {"maps"}), "classlabels_strings",
            {"cat", "dog"});
  for (const char* name : {"label", "maps"}) graph.add_output()->set_name(name);
  graph.mutable_output(1)->mutable_type()->mutable_sequence_type();
  return model;
}

TEST(OnnxMl, ImportsListsOfTreesAsTensors) {
  const Graph graph = import_onnx(pets().SerializeAsString(), "pets.onnx");
  const auto& attributes = graph.nodes.at(0).attributes;
  const Tensor& modes = std::get<Tensor>(attributes.at("nodes_modes"));
  EXPECT_THAT(modes.as<std::uint8_t>(), ElementsAre(0, 7, 7));
  EXPECT_EQ(std::get<Tensor>(attributes.at("nodes_treeids")).dtype(), DType::i64);
}

TEST(OnnxMl, ExportsThemAsListsAgain) {
  const Graph graph = import_onnx(pets().SerializeAsString(), "pets.onnx");
  const TemporaryFolder folder;
  export_onnx(graph, folder.path() / "again.onnx");
  onnx::ModelProto again;
  ASSERT_TRUE(again.ParseFromString(bytes_of_file(folder.path() / "again.onnx")));
  for (const onnx::AttributeProto& attribute : again.graph().node(0).attribute()) {
    if (attribute.name() == "nodes_modes") {
      EXPECT_THAT(attribute.strings(), ElementsAre("BRANCH_LEQ", "LEAF", "LEAF"));
    }
    if (attribute.name() == "nodes_treeids") {
      EXPECT_THAT(attribute.ints(), ElementsAre(0, 0, 0));
    }
  }
}

TEST(OnnxMl, NamesTheClassesOfLabelsAndMaps) {
  const Graph graph = import_onnx(pets().SerializeAsString(), "pets.onnx");
  for (const TensorId output : graph.outputs) {
    EXPECT_THAT(graph.tensor(output).labels, ElementsAre("cat", "dog"));
  }
}

/// Classes as scikit-learn's Bayes, MLP and AdaBoost keep them: a constant that the label is looked
/// up in.
onnx::ModelProto classes_in_a_constant() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  onnx::OperatorSetIdProto& ml = *model.add_opset_import();
  ml.set_domain("ai.onnx.ml");
  ml.set_version(3);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::ValueInfoProto& x = *graph.add_input();
  x.set_name("place");
  onnx::TypeProto::Tensor& type = *x.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::INT64);
  type.mutable_shape()->add_dim()->set_dim_value(4);
  onnx::TensorProto& classes = *graph.add_initializer();
  classes.set_name("classes");
  classes.set_data_type(onnx::TensorProto::STRING);
  classes.add_dims(2);
  classes.add_string_data("cat");
  classes.add_string_data("dog");
  add_ml_node(model, "ArrayFeatureExtractor", {"classes", "place"}, {"found"});
  onnx::NodeProto& named = *graph.add_node();
  named.set_op_type("Identity");
  named.add_input("found");
  named.add_output("label");
  graph.add_output()->set_name("label");
  return model;
}

TEST(OnnxMl, TextsThatALabelIsLookedUpInAreItsNames) {
  const onnx::ModelProto model = classes_in_a_constant();
  const Graph graph = import_onnx(model.SerializeAsString(), "pets.onnx");
  EXPECT_THAT(graph.tensor(graph.outputs[0]).labels, ElementsAre("cat", "dog"));
  const TensorId classes = graph.find("classes");
  EXPECT_THAT(graph.tensor(classes).data.as<std::int64_t>(), ElementsAre(0, 1));
}

TEST(OnnxMl, TextsAreNotComputedWith) {
  const auto refused = [](const onnx::ModelProto& model) {
    return message_of<UnsupportedError>(
        [&] { (void)import_onnx(model.SerializeAsString(), "pets.onnx"); });
  };
  onnx::ModelProto model = classes_in_a_constant();
  model.mutable_graph()->mutable_node(1)->set_op_type("Abs");
  EXPECT_THAT(refused(model), HasSubstr("initializer 'classes': tensors of strings"));
  model = classes_in_a_constant();
  model.mutable_graph()->add_output()->set_name("classes");
  EXPECT_THAT(refused(model), HasSubstr("initializer 'classes': tensors of strings"));
  model = classes_in_a_constant();
  model.mutable_graph()->mutable_initializer(0)->add_dims(3);
  EXPECT_THAT(
      message_of<ModelError>([&] { (void)import_onnx(model.SerializeAsString(), "pets.onnx"); }),
      HasSubstr("has 2 texts for the shape 2x3"));
}

TEST(OnnxMl, RefusesANewerOperatorSet) {
  onnx::ModelProto model = pets();
  model.mutable_opset_import(0)->set_version(6);
  EXPECT_THAT(message_of<UnsupportedError>(
                  [&] { (void)import_onnx(model.SerializeAsString(), "pets.onnx"); }),
              HasSubstr("ai.onnx.ml"));
}

TEST(OnnxCost, CountsMessagesAndTextsMoreThanNumbers) {
  onnx::NodeProto numbers;
  set_ints(numbers, "a", std::vector<std::int64_t>(1000, 1));
  onnx::NodeProto texts;
  set_texts(texts, "a", std::vector<std::string>(1000, "x"));
  onnx::NodeProto messages;
  for (int i = 0; i < 1000; ++i) messages.add_attribute();
  const auto cost = [](const onnx::NodeProto& node) {
    return parsed_bytes(OnnxMessage::node, node.SerializeAsString());
  };
  EXPECT_LT(cost(numbers), 10'000);
  EXPECT_GT(cost(texts), 60'000);
  EXPECT_GT(cost(messages), 200'000);
}

TEST(OnnxCost, FollowsTheFileAndTheVariable) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  EXPECT_EQ(most_parsed_bytes(10), 256 * kMebibyte);
  EXPECT_EQ(most_parsed_bytes(200 * kMebibyte), 1600 * kMebibyte);
  ::setenv("MORTON_MODEL_MEMORY", "3", 1);
  EXPECT_EQ(most_parsed_bytes(200 * kMebibyte), 3 * kMebibyte);
  ::setenv("MORTON_MODEL_MEMORY", "much", 1);
  EXPECT_THAT(message_of<UsageError>([] { (void)most_parsed_bytes(10); }), HasSubstr("much"));
  ::unsetenv("MORTON_MODEL_MEMORY");
}

}  // namespace
}  // namespace morton::test
