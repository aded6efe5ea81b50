// SPDX-License-Identifier: Apache-2.0
//
// Functions of a model: their nodes stand in the places of the calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx.pb.h>

#include <string>
#include <vector>

#include "formats/onnx/onnx_import.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Ports = std::vector<std::string>;

onnx::NodeProto node_of(const std::string& op, const Ports& inputs, const Ports& outputs,
                        const std::string& domain = "") {
  onnx::NodeProto node;
  node.set_op_type(op);
  node.set_domain(domain);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

/// A model from x to y, both of 3 numbers, of `nodes`.
onnx::ModelProto model_of(const std::vector<onnx::NodeProto>& nodes) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  for (const auto& node : nodes) *model.mutable_graph()->add_node() = node;
  for (auto* port : {model.mutable_graph()->add_input(), model.mutable_graph()->add_output()}) {
    auto& type = *port->mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(3);
  }
  model.mutable_graph()->mutable_input(0)->set_name("x");
  model.mutable_graph()->mutable_output(0)->set_name("y");
  return model;
}

onnx::FunctionProto& add_function(onnx::ModelProto& model, const std::string& name,
                                  const Ports& inputs, const Ports& outputs,
                                  const std::vector<onnx::NodeProto>& nodes) {
  onnx::FunctionProto& function = *model.add_functions();
  function.set_name(name);
  function.set_domain("own");
  function.add_opset_import()->set_version(13);
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  for (const auto& node : nodes) *function.add_node() = node;
  return function;
}

/// LeakyRelu whose `alpha` is the function's `slope`.
onnx::NodeProto leaky_of_slope() {
  onnx::NodeProto node = node_of("LeakyRelu", {"a"}, {"b"});
  onnx::AttributeProto& alpha = *node.add_attribute();
  alpha.set_name("alpha");
  alpha.set_ref_attr_name("slope");
  alpha.set_type(onnx::AttributeProto::FLOAT);
  return node;
}

onnx::AttributeProto slope(float value) {
  onnx::AttributeProto attribute;
  attribute.set_name("slope");
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
  return attribute;
}

/// A default of a function's attribute is field 11, which older messages do not know.
void add_default(onnx::FunctionProto& function, const onnx::AttributeProto& attribute) {
  const std::string bytes = attribute.SerializeAsString();
  std::string& fields = *function.mutable_unknown_fields();
  fields += static_cast<char>(11 << 3 | 2);
  fields += static_cast<char>(bytes.size());
  fields += bytes;
}

Graph imported(const onnx::ModelProto& model) {
  return import_onnx(model.SerializeAsString(), "test.onnx");
}

Ports imported_operators(const onnx::ModelProto& model) {
  Ports names;
  for (const Node& node : imported(model).nodes) names.push_back(node.op);
  return names;
}

std::string refused(const onnx::ModelProto& model) {
  try {
    (void)imported(model);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

double alpha_of(const Node& node) {
  return node.attributes.contains("alpha") ? std::get<double>(node.attributes.at("alpha")) : -1.0;
}

TEST(OnnxFunctions, AttributesAreTheCallsOrTheDefaults) {
  onnx::NodeProto given = node_of("Leak", {"m"}, {"y"}, "own");
  *given.add_attribute() = slope(0.5F);
  onnx::ModelProto model = model_of({node_of("Leak", {"x"}, {"m"}, "own"), given});
  onnx::FunctionProto& leak = add_function(model, "Leak", {"a"}, {"b"}, {leaky_of_slope()});
  leak.add_attribute("slope");
  Graph graph = imported(model);
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(alpha_of(graph.nodes[0]), -1.0);  // neither: the operator's own default holds
  EXPECT_EQ(alpha_of(graph.nodes[1]), 0.5);
  add_default(leak, slope(0.25F));
  graph = imported(model);
  EXPECT_EQ(alpha_of(graph.nodes[0]), 0.25);
  EXPECT_EQ(alpha_of(graph.nodes[1]), 0.5);
}

TEST(OnnxFunctions, CallsInsideAreReplacedToo) {
  onnx::ModelProto model = model_of({node_of("Outer", {"x"}, {"y"}, "own")});
  add_function(model, "Outer", {"a"}, {"b"},
               {node_of("Inner", {"a"}, {"t"}, "own"), node_of("Inner", {"t"}, {"b"}, "own")});
  add_function(model, "Inner", {"a"}, {"b"},
               {node_of("Tanh", {"a"}, {"t"}), node_of("Relu", {"t"}, {"b"})});
  EXPECT_THAT(imported_operators(model), ElementsAre("Tanh", "Relu", "Tanh", "Relu"));
}

TEST(OnnxFunctions, AFunctionOfTheStandardsNameIsTheModels) {
  onnx::ModelProto model = model_of({node_of("Selu", {"x"}, {"y"})});
  add_function(model, "Selu", {"a"}, {"b"}, {node_of("Tanh", {"a"}, {"b"})}).set_domain("");
  EXPECT_THAT(imported_operators(model), ElementsAre("Tanh"));
}

TEST(OnnxFunctions, RecursionIsRefused) {
  onnx::ModelProto model = model_of({node_of("Ping", {"x"}, {"y"}, "own")});
  add_function(model, "Ping", {"a"}, {"b"}, {node_of("Pong", {"a"}, {"b"}, "own")});
  add_function(model, "Pong", {"a"}, {"b"}, {node_of("Ping", {"a"}, {"b"}, "own")});
  EXPECT_THAT(refused(model), HasSubstr("function 'Ping': calls itself"));
}

TEST(OnnxFunctions, AnOutputThatIsNotComputedIsRefused) {
  onnx::ModelProto model = model_of({node_of("Empty", {"x"}, {"y"}, "own")});
  add_function(model, "Empty", {"a"}, {"b"}, {node_of("Tanh", {"a"}, {"t"})});
  EXPECT_THAT(refused(model), HasSubstr("function 'Empty': computes no output 'b'"));
}

TEST(OnnxFunctions, AnOutputThatNobodyReadsMayBeLeftOut) {
  onnx::ModelProto model = model_of({node_of("Two", {"x"}, {"y", ""}, "own")});
  add_function(model, "Two", {"a"}, {"b", "c"},
               {node_of("Tanh", {"a"}, {"b"}), node_of("Relu", {"a"}, {"c"})});
  EXPECT_THAT(imported_operators(model), ElementsAre("Tanh", "Relu"));
}

TEST(OnnxFunctions, AnInputThatIsLeftOutIsAbsent) {
  onnx::ModelProto model = model_of({node_of("Bounded", {"x"}, {"y"}, "own")});
  add_function(model, "Bounded", {"a", "low", "high"}, {"b"},
               {node_of("Clip", {"a", "low", "high"}, {"b"})});
  const Graph graph = imported(model);
  ASSERT_EQ(graph.nodes.size(), 1U);
  for (std::size_t i = 1; i < graph.nodes[0].inputs.size(); ++i) {
    EXPECT_EQ(graph.nodes[0].inputs[i], kNoTensor);
  }
}

TEST(OnnxFunctions, TooManyInputsAreRefused) {
  onnx::ModelProto model = model_of({node_of("One", {"x", "x"}, {"y"}, "own")});
  add_function(model, "One", {"a"}, {"b"}, {node_of("Tanh", {"a"}, {"b"})});
  EXPECT_THAT(refused(model),
              HasSubstr("is called with 2 inputs and 1 outputs; it declares 1 and 1"));
}

TEST(OnnxFunctions, NodesAreOfTheFunctionsOperatorSet) {
  onnx::ModelProto model =
      model_of({node_of("Share", {"x"}, {"t"}, "own"), node_of("Softmax", {"t"}, {"y"})});
  add_function(model, "Share", {"a"}, {"b"}, {node_of("Softmax", {"a"}, {"b"})})
      .mutable_opset_import(0)
      ->set_version(11);
  const Graph graph = imported(model);
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].opset, 11);
  EXPECT_EQ(graph.nodes[1].opset, 0);
}

/// An If on c, whose branches apply these operators to `value`.
onnx::NodeProto if_of(const std::string& value, const std::string& then,
                      const std::string& otherwise) {
  onnx::NodeProto node = node_of("If", {"c"}, {"y"});
  for (const auto& [name, op] : {std::pair("then_branch", then), {"else_branch", otherwise}}) {
    onnx::AttributeProto& branch = *node.add_attribute();
    branch.set_name(name);
    branch.set_type(onnx::AttributeProto::GRAPH);
    *branch.mutable_g()->add_node() = node_of(op, {value}, {"b"}, op == "Own" ? "own" : "");
    branch.mutable_g()->add_output()->set_name("b");
  }
  return node;
}

TEST(OnnxBodies, CaptureValuesOfTheOutside) {
  onnx::ModelProto model = model_of(
      {node_of("Neg", {"x"}, {"n"}), node_of("IsNaN", {"x"}, {"c"}), if_of("n", "Own", "Relu")});
  add_function(model, "Own", {"a"}, {"b"}, {node_of("Tanh", {"a"}, {"b"})});
  const Graph graph = imported(model);
  const Node& node = graph.nodes[2];
  ASSERT_EQ(node.inputs.size(), 3U);  // the condition, and n for each branch
  EXPECT_EQ(graph.tensor(node.inputs[1]).name, "n");
  EXPECT_EQ(graph.tensor(node.inputs[2]).name, "n");
  const Body& then = node.bodies.at("then_branch");
  EXPECT_EQ(then.captured, 1U);
  EXPECT_EQ(then.graph->nodes.at(0).op, "Tanh");  // the function's, inside too
  EXPECT_EQ(node.bodies.at("else_branch").graph->nodes.at(0).op, "Relu");
}

TEST(OnnxBodies, CaptureInTheOrderOfTheirNames) {
  onnx::NodeProto node = if_of("n", "Tanh", "Relu");
  // In the file the other branch stands first, and reads x.
  *node.mutable_attribute(1)->mutable_g()->mutable_node(0)->mutable_input(0) = "x";
  node.mutable_attribute()->SwapElements(0, 1);
  for (const bool swapped : {false, true}) {
    if (swapped) node.mutable_attribute()->SwapElements(0, 1);
    const Graph graph =
        imported(model_of({node_of("Neg", {"x"}, {"n"}), node_of("IsNaN", {"x"}, {"c"}), node}));
    EXPECT_EQ(graph.tensor(graph.nodes[2].inputs[1]).name, "x");  // of else_branch
    EXPECT_EQ(graph.tensor(graph.nodes[2].inputs[2]).name, "n");
  }
}

TEST(OnnxBodies, OfFunctionsReadTheFunctionsValues) {
  onnx::ModelProto model = model_of({node_of("Choose", {"x"}, {"y"}, "own")});
  add_function(
      model, "Choose", {"a"}, {"y"},
      {node_of("Neg", {"a"}, {"n"}), node_of("IsNaN", {"a"}, {"c"}), if_of("n", "Tanh", "Relu")});
  const Graph graph = imported(model);
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.nodes[2].inputs[1], graph.nodes[0].outputs[0]);
}

TEST(OnnxBodies, RecursionThroughABodyIsRefused) {
  onnx::ModelProto model = model_of({node_of("Own", {"x"}, {"y"}, "own")});
  add_function(model, "Own", {"a"}, {"y"},
               {node_of("IsNaN", {"a"}, {"c"}), if_of("a", "Own", "Relu")});
  EXPECT_THAT(refused(model), HasSubstr("function 'Own': calls itself"));
}

/// A value of the body, and one that the call gives, have one name.
TEST(OnnxBodies, OwnValuesOfAFunctionsBodyHideNoneOfTheCall) {
  onnx::NodeProto branches = if_of("a", "Tanh", "Relu");
  onnx::ModelProto model =
      model_of({node_of("Neg", {"x"}, {"b"}), node_of("Choose", {"b"}, {"y"}, "own")});
  add_function(model, "Choose", {"a"}, {"y"}, {node_of("IsNaN", {"a"}, {"c"}), branches});
  const Graph graph = imported(model);
  const Node& node = graph.nodes.back();
  const Body& then = node.bodies.at("then_branch");
  EXPECT_EQ(then.captured, 1U);  // what the call gives, and not the body's own "b"
  EXPECT_EQ(graph.tensor(node.inputs[1]).name, "b");
}

TEST(OnnxBodies, CallsInsideAndOutsideAreNamedApart) {
  const auto twice = [](const std::string& value) {
    onnx::NodeProto node = node_of("Twice", {value}, {"b"}, "own");
    node.set_name("n0");
    return node;
  };
  onnx::NodeProto branches = if_of("x", "Tanh", "Relu");
  *branches.mutable_attribute(0)->mutable_g()->mutable_node(0) = twice("n0/0/tmp");
  onnx::NodeProto first = node_of("Twice", {"x"}, {"b"}, "own");
  first.set_name("n0");
  onnx::ModelProto model = model_of({first, node_of("IsNaN", {"x"}, {"c"}), branches});
  add_function(model, "Twice", {"a"}, {"b"},
               {node_of("Neg", {"a"}, {"tmp"}), node_of("Add", {"tmp", "tmp"}, {"b"})});
  const Graph graph = imported(model);
  const Body& then = graph.nodes.back().bodies.at("then_branch");
  ASSERT_EQ(then.captured, 1U);  // the outside's value, which no value inside hides
  EXPECT_EQ(graph.tensor(graph.nodes.back().inputs.back()).name, "n0/0/tmp");
}

TEST(OnnxBodies, AttributesInsideAreTheCalls) {
  onnx::NodeProto branches = if_of("a", "LeakyRelu", "Relu");
  onnx::AttributeProto& alpha =
      *branches.mutable_attribute(0)->mutable_g()->mutable_node(0)->add_attribute();
  alpha.set_name("alpha");
  alpha.set_ref_attr_name("slope");
  alpha.set_type(onnx::AttributeProto::FLOAT);
  onnx::NodeProto call = node_of("Leak", {"x"}, {"y"}, "own");
  *call.add_attribute() = slope(0.5F);
  onnx::ModelProto model = model_of({call});
  add_function(model, "Leak", {"a"}, {"y"}, {node_of("IsNaN", {"a"}, {"c"}), branches})
      .add_attribute("slope");
  const Graph graph = imported(model);
  EXPECT_EQ(alpha_of(graph.nodes.back().bodies.at("then_branch").graph->nodes[0]), 0.5);
}

TEST(OnnxBodies, AValueThatNobodyComputesIsNamed) {
  EXPECT_THAT(refused(model_of({node_of("IsNaN", {"x"}, {"c"}), if_of("z", "Tanh", "Relu")})),
              HasSubstr("nothing computes its input 'z'"));
}

TEST(OnnxFunctions, ADefinitionStandsOnce) {
  onnx::ModelProto model = model_of({node_of("One", {"x"}, {"y"}, "own")});
  for (int i = 0; i < 2; ++i) {
    add_function(model, "One", {"a"}, {"b"}, {node_of("Tanh", {"a"}, {"b"})});
  }
  EXPECT_THAT(refused(model), HasSubstr("the function 'One' is defined twice"));
}

}  // namespace
}  // namespace morton::test
