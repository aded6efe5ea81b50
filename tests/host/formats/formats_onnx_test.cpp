// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx.pb.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/input_file.hpp"
#include "formats/onnx/onnx_import.hpp"
#include "host/formats_files.hpp"
#include "morton/error.hpp"
#include "ops/core/operator.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kLenet =
    std::filesystem::path(MORTON_SOURCE_DIR) / "models/lenet5.onnx";

void set_dims(onnx::TensorProto& tensor, const std::vector<std::int64_t>& dims) {
  for (const std::int64_t extent : dims) tensor.add_dims(extent);
}

onnx::ValueInfoProto& declare(onnx::ValueInfoProto& value, const std::string& name) {
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  value.mutable_type()->mutable_tensor_type()->mutable_shape();
  return value;
}

onnx::NodeProto& add_node(onnx::ModelProto& model, const std::string& op,
                          const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

/// y = Relu(x + w), with x [batch, 3] and w [3] = 1, 2, 3 in raw_data.
onnx::ModelProto small_model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("small");
  onnx::ValueInfoProto& x = declare(*graph.add_input(), "x");
  onnx::TensorShapeProto& shape = *x.mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.add_dim()->set_dim_param("batch");
  shape.add_dim()->set_dim_value(3);
  onnx::TensorProto& w = *graph.add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.add_dims(3);
  const float values[3] = {1.0F, 2.0F, 3.0F};
  w.set_raw_data(values, sizeof(values));
  add_node(model, "Add", {"x", "w"}, {"s"});
  add_node(model, "Relu", {"s"}, {"y"});
  declare(*graph.add_output(), "y");
  return model;
}

Graph import(const onnx::ModelProto& model) {
  return import_onnx(model.SerializeAsString(), "test.onnx");
}

const Tensor& constant(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                  [&](const GraphTensor& t) { return t.name == name; });
  if (found == graph.tensors.end()) throw UsageError("no tensor " + name);
  EXPECT_EQ(found->kind, GraphTensor::Kind::constant);
  return found->data;
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.at(i));
  return values;
}

TEST(OnnxImport, ReadsLenet) {
  const Graph graph = import_onnx(kLenet);
  EXPECT_EQ(graph.opset, 13);
  ASSERT_EQ(graph.nodes.size(), 19U);
  EXPECT_EQ(graph.nodes.front().op, "Conv");
  EXPECT_EQ(graph.nodes.front().name, "C1");
  EXPECT_EQ(graph.nodes.back().op, "Softmax");
  ASSERT_EQ(graph.inputs.size(), 1U);
  const GraphTensor& input = graph.tensor(graph.inputs[0]);
  EXPECT_EQ(input.name, "input");
  ASSERT_EQ(input.declared.size(), 4U);
  EXPECT_EQ(input.declared[0].symbol, "batch");
  EXPECT_EQ(input.declared[3].value, 32);
  EXPECT_TRUE(input.shape.empty());
  ASSERT_EQ(graph.outputs.size(), 1U);
  EXPECT_EQ(graph.tensor(graph.outputs[0]).name, "probabilities");
  EXPECT_EQ(constant(graph, "C1.weight").shape(), (Shape{6, 1, 5, 5}));
  std::int64_t parameters = 0;
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.kind == GraphTensor::Kind::constant) parameters += tensor.data.size();
  }
  EXPECT_EQ(parameters, 61750);
}

TEST(OnnxImport, FileAndMemoryAgree) {
  const Graph a = import_onnx(kLenet);
  const Graph b = import_onnx(bytes_of_file(kLenet), "memory");
  EXPECT_EQ(print(a), print(b));
  EXPECT_EQ(values_of(constant(a, "F5.bias")), values_of(constant(b, "F5.bias")));
}

TEST(OnnxImport, ReadsTheSmallModel) {
  const Graph graph = import(small_model());
  EXPECT_EQ(graph.name, "small");
  EXPECT_EQ(graph.nodes[0].name, "Add_0");
  EXPECT_EQ(graph.nodes[1].name, "Relu_1");
  EXPECT_THAT(values_of(constant(graph, "w")), ElementsAre(1, 2, 3));
}

TEST(OnnxImport, SortsNodesAndKeepsNamesUnique) {
  onnx::ModelProto model = small_model();
  model.mutable_graph()->mutable_node()->SwapElements(0, 1);
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) node.set_name("same");
  const Graph graph = import(model);
  EXPECT_EQ(graph.nodes[0].op, "Add");
  EXPECT_EQ(graph.nodes[0].name, "same_1");
  EXPECT_EQ(graph.nodes[1].name, "same");
}

TEST(OnnxImport, NotesOfNodesAndPortsAreSaidToBeLeftOut) {
  EXPECT_TRUE(import(small_model()).facts.left_out.empty());
  onnx::ModelProto described = small_model();
  described.mutable_graph()->mutable_input(0)->set_doc_string("a photograph");
  EXPECT_THAT(import(described).facts.left_out,
              ::testing::ElementsAre("descriptions and metadata of inputs and outputs"));
  // Field 9 of a node, metadata_props, is younger than the definition that is compiled in.
  onnx::ModelProto noted = small_model();
  std::string bytes = noted.graph().node(0).SerializeAsString();
  bytes += std::string("\x4a\x06\x0a\x01k\x12\x01v", 8);
  ASSERT_TRUE(noted.mutable_graph()->mutable_node(0)->ParseFromString(bytes));
  EXPECT_THAT(import(noted).facts.left_out,
              ::testing::ElementsAre("descriptions and metadata of nodes"));
}

TEST(OnnxImport, InputsThatAreInitializersAreConstants) {
  onnx::ModelProto model = small_model();
  declare(*model.mutable_graph()->add_input(), "w");
  const Graph graph = import(model);
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_THAT(values_of(constant(graph, "w")), ElementsAre(1, 2, 3));
}

TEST(OnnxImport, ExtentsOfMinusOneAndQuestionMarksAreOpen) {
  onnx::ModelProto model = small_model();
  auto& shape = *model.mutable_graph()
                     ->mutable_input(0)
                     ->mutable_type()
                     ->mutable_tensor_type()
                     ->mutable_shape();
  shape.clear_dim();
  shape.add_dim()->set_dim_value(-1);
  shape.add_dim()->set_dim_param("?");
  shape.add_dim()->set_dim_param("?");
  const Graph graph = import(model);
  const auto& declared = graph.tensor(graph.inputs[0]).declared;
  EXPECT_EQ(declared[0].symbol, "x.0");
  EXPECT_EQ(declared[1].symbol, "x.1");
  EXPECT_EQ(declared[2].symbol, "x.2");
}

TEST(OnnxImport, OpenExtentsWithoutNameGetOne) {
  onnx::ModelProto model = small_model();
  auto* shape = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  shape->mutable_shape()->mutable_dim(0)->Clear();
  const Graph graph = import(model);
  EXPECT_EQ(graph.tensor(graph.inputs[0]).declared[0].symbol, "x.0");
  shape->mutable_shape()->mutable_dim(0)->set_dim_value(5);
  const Graph fixed = import(model);
  EXPECT_EQ(fixed.tensor(fixed.inputs[0]).shape, (Shape{5, 3}));
}

TEST(OnnxImport, AbsentInputsAndOutputs) {
  onnx::ModelProto model = small_model();
  add_node(model, "Clip", {"y", "", "w"}, {"c"});
  add_node(model, "Dropout", {"y", "", ""}, {"d", ""});
  const Graph graph = import(model);
  EXPECT_EQ(graph.nodes[2].inputs.at(1), kNoTensor);
  EXPECT_EQ(graph.nodes[2].inputs.size(), 3U);
  EXPECT_EQ(graph.nodes[3].inputs.size(), 1U);
  EXPECT_EQ(graph.nodes[3].outputs.size(), 1U);
}

TEST(OnnxImport, TypedFieldsOfEveryElementType) {
  using Proto = onnx::TensorProto;
  onnx::ModelProto model = small_model();
  const auto add = [&](const std::string& name, std::int32_t type) -> Proto& {
    Proto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    tensor.add_dims(1);
    return tensor;
  };
  add("f32", Proto::FLOAT).add_float_data(1.5F);
  add("f64", Proto::DOUBLE).add_double_data(-2.25);
  add("f16", Proto::FLOAT16).add_int32_data(0x3e00);
  add("i8", Proto::INT8).add_int32_data(-128);
  add("u8", Proto::UINT8).add_int32_data(255);
  add("i32", Proto::INT32).add_int32_data(-7);
  add("i64", Proto::INT64).add_int64_data(std::int64_t{1} << 40);
  add("bool", Proto::BOOL).add_int32_data(1);
  const Graph graph = import(model);
  EXPECT_EQ(constant(graph, "f32").at(0), 1.5);
  EXPECT_EQ(constant(graph, "f64").at(0), -2.25);
  EXPECT_EQ(constant(graph, "f16").at(0), 1.5);
  EXPECT_EQ(constant(graph, "i8").at(0), -128);
  EXPECT_EQ(constant(graph, "u8").at(0), 255);
  EXPECT_EQ(constant(graph, "i32").at(0), -7);
  EXPECT_EQ(constant(graph, "i64").at(0), 1099511627776.0);
  EXPECT_EQ(constant(graph, "bool").dtype(), DType::boolean);

  add("too_big", Proto::INT8).add_int32_data(128);
  EXPECT_THAT(message_of<ModelError>([&] { import(model); }), HasSubstr("'too_big'"));
}

TEST(OnnxImport, Attributes) {
  using Proto = onnx::AttributeProto;
  onnx::ModelProto model = small_model();
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node(1);
  const auto add = [&](const std::string& name, Proto::AttributeType type) -> Proto& {
    Proto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  };
  add("i", Proto::INT).set_i(3);
  add("f", Proto::FLOAT).set_f(0.5F);
  add("s", Proto::STRING).set_s("SAME_UPPER");
  add("ints", Proto::INTS).add_ints(-1);
  add("floats", Proto::FLOATS).add_floats(0.25F);
  add("strings", Proto::STRINGS).add_strings("a");
  *add("t", Proto::TENSOR).mutable_t() = model.graph().initializer(0);
  const Graph graph = import(model);
  const auto& attributes = graph.nodes[1].attributes;
  EXPECT_EQ(std::get<std::int64_t>(attributes.at("i")), 3);
  EXPECT_EQ(std::get<double>(attributes.at("f")), 0.5);
  EXPECT_EQ(std::get<std::string>(attributes.at("s")), "SAME_UPPER");
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(attributes.at("ints")), ElementsAre(-1));
  EXPECT_THAT(std::get<std::vector<double>>(attributes.at("floats")), ElementsAre(0.25));
  EXPECT_THAT(std::get<std::vector<std::string>>(attributes.at("strings")), ElementsAre("a"));
  EXPECT_THAT(values_of(std::get<Tensor>(attributes.at("t"))), ElementsAre(1, 2, 3));

  node.set_name("here");
  add("g", Proto::GRAPH).mutable_g();
  EXPECT_TRUE(import(model).nodes[1].bodies.contains("g"));
  EXPECT_THAT(
      message_of<UnsupportedError>([&] { check_supported(import(model), import(model).nodes[1]); }),
      HasSubstr("is not supported"));
  node.mutable_attribute(7)->set_name("i");
  node.mutable_attribute(7)->set_type(Proto::INT);
  EXPECT_THAT(message_of<ModelError>([&] { import(model); }), HasSubstr("given twice"));
}

TEST(OnnxImport, ConstantNodesBecomeConstants) {
  using Proto = onnx::AttributeProto;
  onnx::ModelProto model = small_model();
  const auto add = [&](const std::string& output, const std::string& name,
                       Proto::AttributeType type) -> Proto& {
    Proto& attribute = *add_node(model, "Constant", {}, {output}).add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  };
  *add("c0", "value", Proto::TENSOR).mutable_t() = model.graph().initializer(0);
  add("c1", "value_int", Proto::INT).set_i(-4);
  add("c2", "value_float", Proto::FLOAT).set_f(0.5F);
  Proto& ints = add("c3", "value_ints", Proto::INTS);
  ints.add_ints(7);
  ints.add_ints(8);
  add("c4", "value_floats", Proto::FLOATS).add_floats(2.0F);
  const Graph graph = import(model);
  EXPECT_EQ(graph.nodes.size(), 2U);
  EXPECT_THAT(values_of(constant(graph, "c0")), ElementsAre(1, 2, 3));
  EXPECT_EQ(constant(graph, "c1").dtype(), DType::i64);
  EXPECT_TRUE(constant(graph, "c1").shape().empty());
  EXPECT_EQ(constant(graph, "c2").at(0), 0.5);
  EXPECT_THAT(values_of(constant(graph, "c3")), ElementsAre(7, 8));
  EXPECT_EQ(constant(graph, "c4").shape(), (Shape{1}));

  add("c5", "value_string", Proto::STRING).set_s("x");
  EXPECT_THAT(message_of<UnsupportedError>([&] { import(model); }), HasSubstr("strings"));
}

TEST(OnnxImport, RefusesWhatItCannotDo) {
  onnx::ModelProto model = small_model();
  model.mutable_opset_import(0)->set_version(29);
  EXPECT_THAT(message_of<UnsupportedError>([&] { import(model); }),
              testing::AllOf(HasSubstr("29"), HasSubstr("1 to 28")));
  model.mutable_opset_import(0)->set_version(0);
  EXPECT_THROW(import(model), UnsupportedError);
  for (const std::int64_t version : {7, 21}) {
    model.mutable_opset_import(0)->set_version(version);
    EXPECT_EQ(import(model).opset, version);
  }

  model.mutable_opset_import(0)->set_domain("ai.onnx.ml");
  model.mutable_opset_import(0)->set_version(3);
  EXPECT_THAT(message_of<ModelError>([&] { import(model); }), HasSubstr("Add_0"));

  // Operators that nobody knows are read, so that all can be named at once.
  model = small_model();
  model.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  EXPECT_EQ(import(model).nodes[0].op, "com.microsoft.Add");
  EXPECT_THAT(
      message_of<UnsupportedError>([&] { check_supported(import(model), import(model).nodes[0]); }),
      HasSubstr("com.microsoft.Add"));
  model.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  EXPECT_EQ(import(model).nodes.size(), 2U);

  model = small_model();
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
  EXPECT_THAT(message_of<UnsupportedError>([&] { import(model); }), HasSubstr("'x'"));

  model = small_model();
  model.mutable_graph()->add_sparse_initializer();
  EXPECT_THAT(message_of<UnsupportedError>([&] { import(model); }), HasSubstr("sparse"));

  model = small_model();
  model.mutable_graph()->mutable_initializer(0)->set_data_type(onnx::TensorProto::STRING);
  EXPECT_THAT(message_of<UnsupportedError>([&] { import(model); }), HasSubstr("'w'"));
}

TEST(OnnxImport, RefusesGraphsThatContradictThemselves) {
  onnx::ModelProto cyclic = small_model();
  cyclic.mutable_graph()->mutable_node(0)->set_input(1, "y");
  EXPECT_THAT(message_of<ModelError>([&] { import(cyclic); }), HasSubstr("Add_0"));

  onnx::ModelProto missing = small_model();
  missing.mutable_graph()->mutable_node(0)->set_input(1, "nowhere");
  EXPECT_THAT(message_of<ModelError>([&] { import(missing); }),
              testing::AllOf(HasSubstr("'nowhere'"), HasSubstr("'Add_0'")));

  onnx::ModelProto twice = small_model();
  twice.mutable_graph()->mutable_node(0)->set_output(0, "y");
  EXPECT_THAT(message_of<ModelError>([&] { import(twice); }), HasSubstr("'y' is defined twice"));

  onnx::ModelProto no_output = small_model();
  no_output.mutable_graph()->mutable_output(0)->set_name("z");
  EXPECT_THAT(message_of<ModelError>([&] { import(no_output); }), HasSubstr("'z'"));

  onnx::ModelProto escape = small_model();
  escape.mutable_graph()->mutable_output(0)->set_name("\x1b[2J");
  EXPECT_THAT(message_of<ModelError>([&] { import(escape); }), HasSubstr("'\\x1b[2J'"));
}

TEST(OnnxImport, ChecksSizesBeforeTakingMemory) {
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{std::int64_t{1} << 39},
                                                {1 << 30, 1 << 30, 1 << 30},
                                                {std::int64_t{1} << 62, 4},
                                                {-1},
                                                {1, 1, 1, 1, 1, 1, 1, 1, 1},
                                                {4},
                                                {2}}) {
    onnx::ModelProto model = small_model();
    onnx::TensorProto& w = *model.mutable_graph()->mutable_initializer(0);
    w.clear_dims();
    set_dims(w, dims);
    EXPECT_THROW(import(model), ModelError) << dims[0];
    w.clear_raw_data();
    EXPECT_THROW(import(model), ModelError) << dims[0];
  }
}

TEST(OnnxImport, SaysWhatIsNoModel) {
  EXPECT_THAT(message_of<ModelError>([] { (void)import_onnx("no/such/file.onnx"); }),
              HasSubstr("no/such/file.onnx"));
  EXPECT_THROW((void)import_onnx(std::filesystem::path(MORTON_SOURCE_DIR)), ModelError);
  EXPECT_THAT(message_of<ModelError>([] { (void)import_onnx("", "empty"); }),
              HasSubstr("empty: not an ONNX model"));
  EXPECT_THAT(message_of<ModelError>([] { (void)import_onnx("{\"layers\": []}", "some.json"); }),
              HasSubstr("some.json: not an ONNX model"));
  onnx::ModelProto model = small_model();
  model.clear_opset_import();
  EXPECT_THAT(message_of<ModelError>([&] { import(model); }), HasSubstr("not an ONNX model"));
}

TEST(OnnxImport, SaysWhatAnotherFileIs) {
  const auto said = [](std::string_view bytes) {
    return message_of<ModelError>([&] { (void)import_onnx(bytes, "it"); });
  };
  using namespace std::string_view_literals;
  EXPECT_THAT(said("\x89PNG\r\n\x1a\n\0\0"sv), HasSubstr("it: not an ONNX model: it is a picture"));
  EXPECT_THAT(said("PK\x03\x04\0\0"sv), HasSubstr("it is a ZIP archive"));
  EXPECT_THAT(said("\x1c\0\0\0TFL3\0"sv), HasSubstr("convert it to ONNX"));
  EXPECT_THAT(said("version https://git-lfs.github.com/spec/v1\noid sha256:0"),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(said("layers:\n  - conv\n"), HasSubstr("it is text"));
  // The beginning of a model is none of these.
  const std::string model = small_model().SerializeAsString();
  EXPECT_THAT(said(std::string_view(model).substr(0, model.size() - 5)),
              HasSubstr("cut short or damaged"));
}

/// A model in a folder, whose w lies in the file `location`.
struct External {
  TemporaryFolder folder;
  onnx::ModelProto model = small_model();

  External() {
    onnx::TensorProto& w = *model.mutable_graph()->mutable_initializer(0);
    std::string data(5, '#');  // an offset that is no multiple of an element
    data += w.raw_data();
    w.clear_raw_data();
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    std::filesystem::create_directory(folder / "sub");
    write_bytes(folder / "sub/w.bin", data);
    set("location", "sub/w.bin");
    set("offset", "5");
  }
  void set(const std::string& key, const std::string& value) {
    onnx::TensorProto& w = *model.mutable_graph()->mutable_initializer(0);
    for (onnx::StringStringEntryProto& entry : *w.mutable_external_data()) {
      if (entry.key() == key) return entry.set_value(value);
    }
    onnx::StringStringEntryProto& entry = *w.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  [[nodiscard]] Graph import() const {
    return import_onnx(write_bytes(folder / "model.onnx", model.SerializeAsString()));
  }
};

TEST(OnnxExternalData, IsRead) {
  External external;
  EXPECT_THAT(values_of(constant(external.import(), "w")), ElementsAre(1, 2, 3));
  external.set("length", "12");
  EXPECT_THAT(values_of(constant(external.import(), "w")), ElementsAre(1, 2, 3));
}

TEST(OnnxImport, LargeInitializersStayInTheMappedFile) {
  const std::string path = MORTON_SOURCE_DIR "/models/lenet5.onnx";
  Graph mapped = import_onnx(path);
  Graph copied = import_onnx(bytes_of_file(path), "copied");
  int in_the_file = 0;
  for (const TensorId id : mapped.tensors.ids()) {
    if (mapped.tensor(id).kind != GraphTensor::Kind::constant) continue;
    Tensor& one = mapped.tensor(id).data;
    EXPECT_EQ(values_of(one), values_of(copied.tensor(id).data));
    EXPECT_NO_THROW((void)copied.tensor(id).data.mutable_data());
    if (one.bytes() < (std::size_t{64} << 10)) continue;
    EXPECT_THROW((void)one.mutable_data(), UsageError);
    ++in_the_file;
  }
  EXPECT_EQ(in_the_file, 1);
}

TEST(OnnxExternalData, StaysBeneathTheFolder) {
  TemporaryFolder outside;
  write_bytes(outside / "w.bin", std::string(64, '\0'));
  External external;
  external.set("offset", "0");
  std::filesystem::create_symlink(outside / "w.bin", external.folder / "link.bin");
  std::filesystem::create_directory_symlink(outside.path(), external.folder / "links");
  std::filesystem::create_symlink("loop.bin", external.folder / "loop.bin");
  const std::string up = "../" + outside.path().filename().string() + "/w.bin";
  for (const std::string& location :
       {(outside / "w.bin").string(), up, "sub/../" + up, std::string("link.bin"),
        std::string("links/w.bin"), std::string("sub"), std::string("none.bin"), std::string(".."),
        std::string("sub/w.bin\0x", 11), std::string("loop.bin"), std::string("sub/w.bin/x"),
        std::string(300, 'n')}) {
    external.set("location", location);
    EXPECT_THROW((void)external.import(), ModelError) << location;
    for (const Confinement how : {Confinement::openat2_or_walk, Confinement::walk}) {
      EXPECT_THROW((void)InputFile::beneath(external.folder.path(), location, Links::refuse, how),
                   ModelError)
          << location;
    }
  }
  EXPECT_EQ(
      InputFile::beneath(external.folder.path(), "sub/w.bin", Links::refuse, Confinement::walk)
          .bytes(),
      17);
}

TEST(OnnxExternalData, OffsetAndLengthAreChecked) {
  External external;
  for (const char* offset :
       {"6", "-1", "18", "9223372036854775807", "99999999999999999999", "1x", ""}) {
    external.set("offset", offset);
    EXPECT_THROW((void)external.import(), ModelError) << offset;
  }
  external.set("offset", "5");
  external.set("length", "11");
  EXPECT_THAT(message_of<ModelError>([&] { (void)external.import(); }), HasSubstr("12"));
  EXPECT_THROW((void)import_onnx(external.model.SerializeAsString(), "memory"), ModelError);
}

TEST(OnnxTensor, IsRead) {
  TemporaryFolder folder;
  const onnx::TensorProto proto = small_model().graph().initializer(0);
  const auto path = write_bytes(folder / "input_0.pb", proto.SerializeAsString());
  const NamedTensor named = read_onnx_tensor(path);
  EXPECT_EQ(named.name, "w");
  EXPECT_THAT(values_of(named.tensor), ElementsAre(1, 2, 3));
  write_bytes(path, "nonsense");
  EXPECT_THROW((void)read_onnx_tensor(path), ModelError);
}

TEST(OnnxHostile, TruncatedModels) {
  const std::string small = small_model().SerializeAsString();
  const auto read = [](const std::string& bytes) { (void)import_onnx(bytes, "hostile"); };
  Hostility on_small(read);
  on_small.truncate(small);
  EXPECT_EQ(on_small.accepted, 0);
  const std::string lenet = bytes_of_file(kLenet);
  Hostility on_lenet(read);
  on_lenet.truncate(lenet, 997);
  EXPECT_EQ(on_lenet.accepted, 0);
}

TEST(OnnxHostile, FlippedBytes) {
  const auto read = [](const std::string& bytes) { (void)import_onnx(bytes, "hostile"); };
  const std::string lenet = bytes_of_file(kLenet);
  Hostility on_lenet(read);
  on_lenet.flip(lenet, 1000, lenet.size());
  EXPECT_GT(on_lenet.accepted, 0);
  on_lenet.flip(lenet, 1000, 2000);  // the nodes stand at the front
  EXPECT_GT(on_lenet.refused, 0);
  const std::string small = small_model().SerializeAsString();
  Hostility on_small(read);
  on_small.flip(small, 2000, small.size());
  EXPECT_GT(on_small.refused, 0);
}

TEST(OnnxHostile, RandomBytes) {
  std::mt19937 random(7);
  const auto read = [](const std::string& bytes) { (void)import_onnx(bytes, "hostile"); };
  Hostility hostility(read);
  for (std::size_t size : {1U, 3U, 17U, 63U, 1024U, 65536U}) {
    for (int i = 0; i < 50; ++i) {
      std::string bytes(size, '\0');
      for (char& c : bytes) c = static_cast<char>(random() & 0xff);
      hostility.feed(bytes);
    }
  }
  EXPECT_EQ(hostility.accepted, 0);
}

}  // namespace
}  // namespace morton::test
