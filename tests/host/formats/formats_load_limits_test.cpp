// SPDX-License-Identifier: Apache-2.0
//
// Each limit of loading lets through what is at it, and refuses what is one beyond.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx.pb.h>

#include <string>

#include "formats/arrays/r17_network.hpp"
#include "formats/image.hpp"
#include "formats/onnx/onnx_import.hpp"
#include "host/formats_files.hpp"
#include "morton/load.hpp"
#include "morton/pictures.hpp"
#include "passes/pipeline.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::HasSubstr;

/// Nodes of a chain x -> Neg -> ... -> y, each with a constant of three elements that is added.
onnx::ModelProto chain(int nodes) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (int i = 0; i < nodes; ++i) {
    const std::string number = std::to_string(i);
    onnx::TensorProto& w = *graph.add_initializer();
    w.set_name("w" + number);
    w.set_data_type(onnx::TensorProto::FLOAT);
    w.add_dims(3);
    for (int k = 0; k < 3; ++k) w.add_float_data(1.0F);
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("Add");
    node.add_input(i == 0 ? "x" : "v" + std::to_string(i - 1));
    node.add_input("w" + number);
    node.add_output("v" + number);
  }
  for (onnx::ValueInfoProto* value : {graph.add_input(), graph.add_output()}) {
    value->set_name(value == &graph.input(0) ? "x" : "v" + std::to_string(nodes - 1));
    auto& type = *value->mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(3);
  }
  return model;
}

/// If inside of If, `depth` times.
onnx::ModelProto nested(int depth) {
  onnx::ModelProto model = chain(1);
  onnx::TensorProto& truth = *model.mutable_graph()->add_initializer();
  truth.set_name("truth");
  truth.set_data_type(onnx::TensorProto::BOOL);
  truth.add_int32_data(1);
  onnx::GraphProto* inner = model.mutable_graph();
  for (int d = 0; d < depth; ++d) {
    const std::string number = std::to_string(d);
    onnx::NodeProto& node = *inner->add_node();
    node.set_op_type("If");
    node.add_input("truth");
    node.add_output("if" + number);
    onnx::GraphProto* next = nullptr;
    for (const char* name : {"else_branch", "then_branch"}) {
      onnx::AttributeProto& branch = *node.add_attribute();
      branch.set_name(name);
      branch.set_type(onnx::AttributeProto::GRAPH);
      next = branch.mutable_g();
      onnx::NodeProto& copy = *next->add_node();
      copy.set_op_type("Identity");
      copy.add_input("x");
      copy.add_output(std::string(name) + number);
      next->add_output()->set_name(std::string(name) + number);
    }
    inner = next;
  }
  return model;
}

std::string with(const std::string& text, const onnx::ModelProto& model) {
  try {
    LoadOptions options;
    options.limits = with_limits({}, text);
    (void)import_onnx(model.SerializeAsString(), "it", {}, options);
    return "loaded";
  } catch (const UnsupportedError& error) {
    return error.what();
  }
}

TEST(LoadLimits, OfAFilesBytes) {
  const std::size_t bytes = chain(2).SerializeAsString().size();
  EXPECT_EQ(with("file=" + std::to_string(bytes), chain(2)), "loaded");
  EXPECT_THAT(with("file=" + std::to_string(bytes - 1), chain(2)), HasSubstr("limits file=N"));
}

TEST(LoadLimits, OfNodesConstantsAndElements) {
  EXPECT_EQ(with("nodes=17,constants=17,elements=3", chain(17)), "loaded");
  EXPECT_THAT(with("nodes=16", chain(17)), HasSubstr("more than 16 nodes; limits nodes=N"));
  EXPECT_THAT(with("constants=16", chain(17)), HasSubstr("more than 16 constants"));
  EXPECT_THAT(with("elements=2", chain(17)), HasSubstr("more than 2 elements in one tensor"));
}

TEST(LoadLimits, OfBodiesInBodies) {
  EXPECT_EQ(with("", nested(16)), "loaded");
  EXPECT_THAT(with("", nested(17)), HasSubstr("more than 16 bodies inside of each other"));
  EXPECT_EQ(with("depth=17", nested(17)), "loaded");
  // Those in bodies count: an If, and two nodes in its branches, at each depth.
  EXPECT_EQ(with("nodes=10", nested(3)), "loaded");
  EXPECT_THAT(with("nodes=9", nested(3)), HasSubstr("limits nodes=N"));
}

TEST(LoadLimits, OfMemoryForTheGraph) {
  EXPECT_EQ(with("memory=1MiB", chain(17)), "loaded");
  EXPECT_THAT(with("memory=1KiB", chain(17)), HasSubstr("limits memory=SIZE"));
}

TEST(LoadLimits, OfSeconds) {
  EXPECT_EQ(with("seconds=60", chain(17)), "loaded");
  EXPECT_THAT(with("seconds=1e-9", chain(17)), HasSubstr("seconds to load; limits seconds=N"));
}

TEST(LoadLimits, OfFilesThatAModelNames) {
  const TemporaryFolder folder;
  onnx::ModelProto model = chain(2);
  for (onnx::TensorProto& w : *model.mutable_graph()->mutable_initializer()) {
    w.clear_float_data();
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto& entry = *w.add_external_data();
    entry.set_key("location");
    entry.set_value(w.name());
    write_bytes(folder / w.name(), std::string(12, '\0'));
  }
  const auto file = write_bytes(folder / "m.onnx", model.SerializeAsString());
  LoadOptions options;
  options.limits.external_bytes = 24;
  EXPECT_NO_THROW((void)import_onnx(file, options));
  options.limits.external_bytes = 23;
  EXPECT_THAT(message_of<UnsupportedError>([&] { (void)import_onnx(file, options); }),
              HasSubstr("limits external=N"));
}

TEST(LoadLimits, OfNetworkDefinitions) {
  const TemporaryFolder folder;
  export_r17_network(
      [] {
        NetworkBuilder network("net", 1);
        const TensorId x = network.input("input", {3, -1});
        const TensorId product = network.node("MatMul", {network.parameter({2, 3}, 3), x});
        network.output(network.node("Add", {product, network.parameter({2, 1}, 1)}));
        return network.finish();
      }(),
      folder / "net.json", MatrixData::binary);
  LoadOptions options;
  options.limits = with_limits({}, "nodes=2,constants=2,elements=6,external=32");
  EXPECT_NO_THROW((void)import_r17_network(folder / "net.json", options));
  for (const char* text :
       {"nodes=1", "constants=1", "elements=5", "external=31", "file=10", "seconds=1e-9"}) {
    options.limits = with_limits({}, text);
    EXPECT_THAT(message_of<UnsupportedError>(
                    [&] { (void)import_r17_network(folder / "net.json", options); }),
                HasSubstr(std::string("limits ") + std::string(text).substr(0, 3)))
        << text;
  }
}

/// x [3] is broadcast to [1000, 3].
Graph widening() {
  NetworkBuilder network("wide", 1);
  const TensorId x = network.input("x", {3});
  network.output(network.node("Neg", {network.node("Expand", {x, network.list({1000, 3})})}));
  return network.finish();
}

TEST(LoadLimits, OfShapesThatFollow) {
  PassOptions options;
  options.limits.elements = 3000;
  Graph graph = widening();
  EXPECT_NO_THROW(run_passes(graph, options));
  graph = widening();
  options.limits.elements = 2999;
  EXPECT_THAT(message_of<UnsupportedError>([&] { run_passes(graph, options); }),
              HasSubstr("limits elements=N"));
  graph = widening();
  options.limits = with_limits({}, "seconds=1e-9");
  EXPECT_THAT(message_of<UnsupportedError>([&] { run_passes(graph, options); }),
              HasSubstr("limits seconds=N"));
}

TEST(LoadLimits, OfConstantsThatAreComputedAhead) {
  const auto nodes_left = [](std::int64_t folded_bytes) {
    NetworkBuilder network("fold", 1);
    const TensorId x = network.input("x", {17});
    const TensorId known = network.node("Neg", {network.parameter({17}, 1)});
    network.output(network.node("Concat", {x, known}, {{"axis", std::int64_t{0}}}));
    Graph graph = network.finish();
    PassOptions options;
    options.limits.folded_bytes = folded_bytes;
    run_passes(graph, options);
    return graph.nodes.size();
  };
  EXPECT_EQ(nodes_left(68), 1U);
  EXPECT_EQ(nodes_left(67), 2U);
}

TEST(LoadLimits, OfPicturesPixels) {
  const TemporaryFolder folder;
  const std::string path = (folder / "p.png").string();
  write_picture(path, Tensor::allocate(DType::u8, {3, 17, 1}));
  LoadLimits limits;
  limits.pixels = 51;
  EXPECT_NO_THROW((void)read_image(path, limits));
  limits.pixels = 50;
  EXPECT_THAT(message_of<UnsupportedError>([&] { (void)read_image(path, limits); }),
              HasSubstr("more than 50 pixels; limits pixels=N"));
}

TEST(LoadLimits, AreReadFromText) {
  const LoadLimits limits = with_limits({}, "nodes=3,memory=2MiB,seconds=0.5,external=1GiB");
  EXPECT_EQ(limits.nodes, 3);
  EXPECT_EQ(limits.memory_bytes, 2 << 20);
  EXPECT_EQ(limits.external_bytes, 1 << 30);
  EXPECT_EQ(limits.seconds, 0.5);
  EXPECT_EQ(with_limits(limits, ""), limits);
  EXPECT_EQ(with_limits(limits, "nodes=4").seconds, 0.5);
  for (const char* text :
       {"nodes", "nodes=", "nodes=0", "nodes=-1", "nodes=1KiB", "memory=1TiB", "memory=iB",
        "seconds=0", "seconds=nan", "seconds=inf", "seconds=1s", "node=1", "=1", ",",
        "memory=9000000000GiB", "nodes=99999999999999999999"}) {
    EXPECT_THAT(message_of<UsageError>([&] { (void)with_limits({}, text); }), HasSubstr("limits"))
        << text;
  }
  EXPECT_THAT(message_of<UsageError>([] { (void)with_limits({}, "node=1"); }),
              HasSubstr("constants, depth, elements, pixels, seconds"));
}

}  // namespace
}  // namespace morton::test
