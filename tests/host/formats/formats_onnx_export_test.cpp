// SPDX-License-Identifier: Apache-2.0
//
// What the exporter writes, the importer reads back as the same graph.
#include <gmock/gmock.h>

#include <cstring>

#include "formats/onnx/onnx_export.hpp"
#include "formats/onnx/onnx_import.hpp"
#include "graph/architectures.hpp"
#include "host/formats_files.hpp"
#include "passes/pipeline.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/sketch.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

std::string text_of(const std::vector<Dimension>& dimensions) {
  std::string text;
  for (const Dimension& d : dimensions) {
    text += (d.symbol.empty() ? std::to_string(d.value) : d.symbol) + " ";
  }
  return text;
}

void expect_same_tensor(const GraphTensor& got, const GraphTensor& want) {
  SCOPED_TRACE(want.name);
  EXPECT_EQ(got.kind, want.kind);
  EXPECT_EQ(text_of(got.declared), text_of(want.declared));
  if (want.kind == GraphTensor::Kind::constant) {
    EXPECT_TRUE(same_bytes(got.data, want.data));
    return;
  }
  EXPECT_EQ(got.dtype, want.dtype);
}

bool same_attribute(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (const auto* tensor = std::get_if<Tensor>(&a)) return same_bytes(*tensor, std::get<Tensor>(b));
  // A file keeps a real number as a float.
  if (const auto* real = std::get_if<double>(&a)) {
    return static_cast<float>(*real) == static_cast<float>(std::get<double>(b));
  }
  return std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Tensor>) {
          return false;
        } else {
          return value == std::get<Value>(b);
        }
      },
      a);
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<std::string> names;
  for (const TensorId id : ids) names.push_back(id == kNoTensor ? "" : graph.tensor(id).name);
  return names;
}

/// The same but for the numbering of tensors.
void expect_same_graph(const Graph& got, const Graph& want) {
  SCOPED_TRACE(want.name);
  EXPECT_EQ(got.name, want.name);
  EXPECT_EQ(got.opset, want.opset);
  EXPECT_EQ(names_of(got, got.inputs), names_of(want, want.inputs));
  EXPECT_EQ(names_of(got, got.outputs), names_of(want, want.outputs));
  ASSERT_EQ(got.tensors.size(), want.tensors.size());
  for (const GraphTensor& tensor : want.tensors) {
    ASSERT_NE(got.find(tensor.name), kNoTensor) << tensor.name;
    expect_same_tensor(got.tensor(got.find(tensor.name)), tensor);
  }
  ASSERT_EQ(got.nodes.size(), want.nodes.size());
  for (std::size_t n = 0; n < want.nodes.size(); ++n) {
    const Node& a = got.nodes[n];
    const Node& b = want.nodes[n];
    SCOPED_TRACE(b.name);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.op, b.op);
    EXPECT_EQ(names_of(got, a.inputs), names_of(want, b.inputs));
    EXPECT_EQ(names_of(got, a.outputs), names_of(want, b.outputs));
    ASSERT_EQ(a.attributes.size(), b.attributes.size());
    for (const auto& [name, value] : b.attributes) {
      ASSERT_TRUE(a.attributes.contains(name)) << name;
      EXPECT_TRUE(same_attribute(a.attributes.at(name), value)) << name;
    }
  }
}

Graph there_and_back(const Graph& graph) { return import_onnx(onnx_bytes(graph), graph.name); }

TEST(OnnxExport, TestNetworksComeBack) {
  for (const Graph& graph :
       {test::make_mlp(1), test::make_small_cnn(2), test::make_residual_network(3),
        test::with_all_outputs(test::make_small_cnn(2))}) {
    expect_same_graph(there_and_back(graph), graph);
  }
}

TEST(OnnxExport, ArchitecturesComeBack) {
  for (const char* name : {"r17-digits", "r17-256", "c18-mlp", "lenet5"}) {
    const Graph graph = build(find_architecture(name), 11);
    expect_same_graph(there_and_back(graph), graph);
  }
}

TEST(OnnxExport, OperatorsOfMortonComeBack) {
  test::NetworkBuilder network("fixed_point", 1);
  const TensorId x = network.input("x", {3, 5});
  const TensorId words = network.node("Cast", {x}, {{"to", std::int64_t{6}}});
  network.output(
      network.node("RoundingShift", {network.node("DoublingHighMul", {words, words}), words}));
  expect_same_graph(there_and_back(network.finish()), network.finish());
}

TEST(OnnxExport, AFileComesBack) {
  const TemporaryFolder folder;
  const Graph graph = import_onnx(MORTON_SOURCE_DIR "/models/lenet5.onnx");
  export_onnx(graph, folder / "lenet5.onnx");
  expect_same_graph(import_onnx(folder / "lenet5.onnx"), graph);
}

TEST(OnnxExport, EveryElementTypeAndAttributeComesBack) {
  test::NetworkBuilder network("types", 1);
  const TensorId x = network.input("x", {3, 1});
  const TensorId made = network.node(
      "Made", {x, kNoTensor, network.list({-1, 1})},
      {{"i", std::int64_t{-3}},
       {"f", 0.1},
       {"s", std::string("text")},
       {"is", std::vector<std::int64_t>{1, -17}},
       {"fs", std::vector<double>{0.5, -2.0}},
       {"ss", std::vector<std::string>{"a", ""}},
       {"t", Tensor::from({3}, std::span<const float>(std::array{1.0F, 2.0F, 3.0F}))}});
  network.output(made);
  Graph graph = network.finish();
  graph.opset = 21;
  for (const DType type : {DType::f16, DType::f32, DType::f64, DType::i8, DType::u8, DType::i32,
                           DType::i64, DType::boolean}) {
    GraphTensor tensor;
    tensor.name = "c_" + std::string(name_of(type));
    tensor.kind = GraphTensor::Kind::constant;
    tensor.dtype = type;
    tensor.shape = {1, 3};
    tensor.data = Tensor::allocate(type, {1, 3});
    for (std::int64_t i = 0; i < 3; ++i) tensor.data.set(i, i == 1 ? 1.0 : 0.0);
    graph.nodes[0].inputs.push_back(graph.add_tensor(std::move(tensor)));
  }
  expect_same_graph(there_and_back(graph), graph);
}

TEST(OnnxExport, StatesBecomeTheirValues) {
  Graph graph = test::make_mlp(1);
  for (GraphTensor& tensor : graph.tensors) {
    if (tensor.kind == GraphTensor::Kind::constant) tensor.kind = GraphTensor::Kind::state;
  }
  expect_same_graph(there_and_back(graph), test::make_mlp(1));
}

TEST(OnnxExport, RefusesFusedGraphs) {
  Graph graph = test::make_mlp(1);
  PassOptions options;
  options.batch = 3;
  run_passes(graph, options);
  EXPECT_THAT(message_of<UnsupportedError>([&] { (void)onnx_bytes(graph); }),
              HasSubstr("passes have fused"));
}

TEST(OnnxExport, LeavesNoFileWhereItCannotWrite) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "");
  EXPECT_THROW(export_onnx(test::make_mlp(1), folder / "file/model.onnx"), UsageError);
}

/// A Loop that adds "step" to its state, in whose body an If captures what the Loop has captured.
Graph loop_with_a_choice() {
  Sketch choice;
  choice.formal("sum").constant("one", Tensor::from({}, std::vector<float>{1.0F}));
  choice.node("Add", {"sum", "one"}, {"chosen"});
  Sketch other;
  other.formal("sum").node("Neg", {"sum"}, {"chosen"});
  Sketch body;
  body.formal("turn").formal("go").formal("state").formal("step");
  body.node("Identity", {"go"}, {"goes_on"}).node("Add", {"state", "step"}, {"sum"});
  body.node(
      "If", {"goes_on", "sum", "sum"}, {"next"}, {},
      {{"else_branch", other.body({"chosen"}, 1)}, {"then_branch", choice.body({"chosen"}, 1)}});
  Sketch sketch;
  sketch.input("x", {3}).whole("turns", 4);
  sketch.constant("step", Tensor::from({3}, std::vector<float>{1, 2, 3}));
  sketch.node("Loop", {"turns", "", "x", "step"}, {"y"}, {},
              {{"body", body.body({"goes_on", "next"}, 1)}});
  Graph graph = sketch.graph({"y"});
  graph.tensor(graph.outputs[0]).declared = {{3, ""}};
  graph.name = "loop";
  return graph;
}

TEST(OnnxExport, BodiesOfControlFlow) {
  const Graph graph = loop_with_a_choice();
  const std::string bytes = onnx_bytes(graph);
  const Graph got = import_onnx(bytes, "loop.onnx");
  ASSERT_EQ(got.nodes.size(), 1U);
  EXPECT_EQ(names_of(got, got.nodes[0].inputs),
            (std::vector<std::string>{"turns", "", "x", "step"}));
  const Body& body = got.nodes[0].bodies.at("body");
  EXPECT_EQ(body.captured, 1U);
  EXPECT_EQ(names_of(*body.graph, body.graph->outputs),
            (std::vector<std::string>{"goes_on", "next"}));
  ASSERT_EQ(body.graph->nodes.size(), 3U);
  const Node& choice = body.graph->nodes[2];
  EXPECT_EQ(names_of(*body.graph, choice.inputs),
            (std::vector<std::string>{"goes_on", "sum", "sum"}));
  const Graph& branch = *choice.bodies.at("then_branch").graph;
  EXPECT_EQ(branch.tensor(branch.find("one")).data.at(0), 1.0);
  EXPECT_EQ(onnx_bytes(got), bytes);
}

TEST(OnnxExport, FormalsKeepTheTypesThatTheFileStates) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(onnx_bytes(loop_with_a_choice())));
  onnx::GraphProto* body = nullptr;
  for (onnx::AttributeProto& attribute :
       *model.mutable_graph()->mutable_node(0)->mutable_attribute()) {
    if (attribute.name() == "body") body = attribute.mutable_g();
  }
  ASSERT_NE(body, nullptr);
  // The count is a scalar; the state's shape is left open.
  auto& turn = *body->mutable_input(0)->mutable_type()->mutable_tensor_type();
  turn.set_elem_type(onnx::TensorProto::INT64);
  (void)turn.mutable_shape();
  body->mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::BOOL);
  auto& state = *body->mutable_input(2)->mutable_type()->mutable_tensor_type();
  state.set_elem_type(onnx::TensorProto::FLOAT);
  state.clear_shape();
  const std::string stated = model.SerializeAsString();
  onnx::ModelProto again;
  ASSERT_TRUE(again.ParseFromString(onnx_bytes(import_onnx(stated, "loop.onnx"))));
  for (const onnx::AttributeProto& attribute : again.graph().node(0).attribute()) {
    if (attribute.name() != "body") continue;
    const auto& inputs = attribute.g().input();
    EXPECT_EQ(inputs[0].type().tensor_type().elem_type(), onnx::TensorProto::INT64);
    EXPECT_TRUE(inputs[0].type().tensor_type().has_shape());
    EXPECT_EQ(inputs[1].type().tensor_type().elem_type(), onnx::TensorProto::BOOL);
    EXPECT_FALSE(inputs[2].type().tensor_type().has_shape());
  }
}

TEST(OnnxExport, ScalarsHaveAShape) {
  Sketch sketch;
  sketch.input("x", {}).node("Neg", {"x"}, {"y"});
  const std::string bytes = onnx_bytes(sketch.graph({"y"}));
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes));
  EXPECT_TRUE(model.graph().input(0).type().tensor_type().has_shape());
  EXPECT_NO_THROW((void)import_onnx(bytes, "scalar.onnx"));
}

TEST(OnnxExport, ATensorOfABodyMustNotHideAnother) {
  Sketch body;
  body.formal("x").node("Neg", {"x"}, {"a"}).node("Neg", {"a"}, {"b"});
  Sketch twin(body);
  Sketch sketch;
  sketch.input("a", {3}).truth("yes", true);
  sketch.node("If", {"yes", "a", "a"}, {"y"}, {},
              {{"else_branch", body.body({"b"}, 1)}, {"then_branch", twin.body({"b"}, 1)}});
  EXPECT_THROW((void)onnx_bytes(sketch.graph({"y"})), UnsupportedError);
}

}  // namespace
}  // namespace morton::test
