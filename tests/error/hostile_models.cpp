// SPDX-License-Identifier: Apache-2.0
#include "error/hostile_models.hpp"

#include "error/hostile_collection.hpp"
#include "support/rooms.hpp"

namespace morton::test {

onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& name) {
  onnx::AttributeProto& proto = *node.add_attribute();
  proto.set_name(name);
  return proto;
}

void set(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  onnx::AttributeProto& proto = attribute(node, name);
  proto.set_type(onnx::AttributeProto::INT);
  proto.set_i(value);
}

void set(onnx::NodeProto& node, const std::string& name, const Ints& values) {
  onnx::AttributeProto& proto = attribute(node, name);
  proto.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) proto.add_ints(value);
}

void set_text(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  onnx::AttributeProto& proto = attribute(node, name);
  proto.set_type(onnx::AttributeProto::STRING);
  proto.set_s(value);
}

void add_list(onnx::ModelProto& model, const std::string& name, const Ints& values) {
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor.add_int64_data(value);
}

namespace {

void relu(onnx::ModelProto& model) { add_node(model, "Relu", {"x"}, "y"); }

void add_tensors(Collection& all) {
  all.weights("negative extent", "'w'", [](auto& w) { w.set_dims(0, -3); });
  all.weights("extent of 2^62", "'w'", [](auto& w) { w.set_dims(0, kHuge); });
  all.weights("extents whose product overflows", "'w'", [](auto& w) {
    w.set_dims(0, std::int64_t{1} << 32);
    w.add_dims(std::int64_t{1} << 32);
  });
  all.weights("least integer as extent", "'w'", [](auto& w) { w.set_dims(0, kLeast); });
  all.weights("terabytes without data", "'w'", [](auto& w) {
    w.set_dims(0, kLarge);
    w.clear_float_data();
  });
  all.weights("too few elements", "'w'", [](auto& w) { w.set_dims(0, 4); });
  all.weights("too many elements", "'w'", [](auto& w) { w.set_dims(0, 2); });
  all.weights("truncated raw data", "'w'", [](auto& w) {
    w.clear_float_data();
    w.set_raw_data(std::string(11, 'a'));
  });
  all.weights("raw data too long", "'w'", [](auto& w) {
    w.clear_float_data();
    w.set_raw_data(std::string(13, 'a'));
  });
  all.weights("data twice", "'w'", [](auto& w) { w.set_raw_data(std::string(12, 'a')); });
  all.weights("a thousand dimensions", "'w'", [](auto& w) {
    for (int i = 0; i < 1000; ++i) w.add_dims(1);
  });
  all.weights("no type", "'w'", [](auto& w) { w.set_data_type(0); });
  all.weights("an unknown type", "'w'", [](auto& w) { w.set_data_type(999); });
  all.weights("strings", "'w'", [](auto& w) { w.set_data_type(onnx::TensorProto::STRING); });
  all.weights("complex numbers", "'w'",
              [](auto& w) { w.set_data_type(onnx::TensorProto::COMPLEX64); });
  all.weights("data of another type", "'w'",
              [](auto& w) { w.set_data_type(onnx::TensorProto::INT64); });
  all.weights("a segment", "'w'", [](auto& w) { w.mutable_segment()->set_begin(1); });
  all.weights("no name", "name", [](auto& w) { w.set_name(""); });
}

void add_graphs(Collection& all) {
  const Ints shape{2, 3};
  all.graph("two weights of one name", "'w'", shape, [](auto& model) {
    add_weights(model, "w", {3});
    add_weights(model, "w", {3});
    add_node(model, "Add", {"x", "w"}, "y");
  });
  all.graph("two inputs of one name", "'x'", shape, [](auto& model) {
    relu(model);
    *model.mutable_graph()->add_input() = model.graph().input(0);
  });
  all.graph("a node's output that is an input", "'x'", shape, [](auto& model) {
    add_node(model, "Relu", {"x"}, "x");
    relu(model);
  });
  all.graph("two nodes with one output", "'y'", shape, [](auto& model) {
    relu(model);
    relu(model);
  });
  all.graph("a node that reads itself", "node_a", shape, [](auto& model) {
    add_node(model, "Add", {"x", "a"}, "a");
    add_node(model, "Relu", {"a"}, "y");
  });
  all.graph("a cycle of three", "node_", shape, [](auto& model) {
    add_node(model, "Add", {"x", "c"}, "a");
    add_node(model, "Relu", {"a"}, "b");
    add_node(model, "Relu", {"b"}, "c");
    add_node(model, "Relu", {"c"}, "y");
  });
  all.graph("a tensor that nobody makes", "'z'", shape,
            [](auto& model) { add_node(model, "Relu", {"z"}, "y"); });
  all.graph("an output that nobody makes", "'y'", shape,
            [](auto& model) { add_node(model, "Relu", {"x"}, "z"); });
  all.graph("no output", "no output", shape, [](auto& model) {
    relu(model);
    model.mutable_graph()->clear_output();
  });
  all.graph("no graph", "no graph", shape, [](auto& model) { model.clear_graph(); });
  all.graph("a name of 5000 bytes", "4096", shape, [](auto& model) {
    add_node(model, "Relu", {"x"}, std::string(5000, 'n'));
    add_node(model, "Relu", {std::string(5000, 'n')}, "y");
  });
  all.graph("a node without an operator", "node_y", shape,
            [](auto& model) { add_node(model, "", {"x"}, "y"); });
  all.graph("a node with ten thousand inputs", "node_y", shape, [](auto& model) {
    add_node(model, "Relu", std::vector<std::string>(10000, "x"), "y");
  });
  all.graph("a node without inputs", "node_y", shape,
            [](auto& model) { add_node(model, "Relu", {}, "y"); });
  all.graph("a needed input that is left out", "node_y", shape, [](auto& model) {
    add_node(model, "Add", {"x", ""}, "y");
  });
  all.graph("an unknown operator", "Frobnicate", shape,
            [](auto& model) { add_node(model, "Frobnicate", {"x"}, "y"); });
  all.graph("an unknown domain", "com.example", shape,
            [](auto& model) { add_node(model, "Relu", {"x"}, "y").set_domain("com.example"); });
  all.graph("a sparse weight", "sparse", shape, [](auto& model) {
    relu(model);
    model.mutable_graph()->add_sparse_initializer()->add_dims(3);
  });
  all.graph("names that steer a terminal", "\\x1b", shape,
            [](auto& model) { add_node(model, "Relu", {"\x1b[2J"}, "y"); });
}

void add_versions(Collection& all) {
  for (const std::int64_t version :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, std::int64_t{999}, kHuge, kLeast}) {
    all.graph("operator set " + std::to_string(version), version == 1 ? "opset 1" : "operator set",
              {2, 3}, [version](auto& model) {
                relu(model);
                model.mutable_opset_import(0)->set_version(version);
              });
  }
  all.graph("no operator set", "operator set", {2, 3}, [](auto& model) {
    relu(model);
    model.clear_opset_import();
  });
  all.graph("operators of another domain only", "operator set", {2, 3}, [](auto& model) {
    relu(model);
    model.mutable_opset_import(0)->set_domain("com.example");
  });
}

void add_inputs(Collection& all) {
  const auto dimension = [](std::int64_t extent) {
    return [extent](onnx::ModelProto& model) {
      relu(model);
      model.mutable_graph()
          ->mutable_input(0)
          ->mutable_type()
          ->mutable_tensor_type()
          ->mutable_shape()
          ->mutable_dim(1)
          ->set_dim_value(extent);
    };
  };
  all.graph("an input below zero", "x", {2, 3}, dimension(-3));
  all.graph("an input of 2^62", "x", {2, 3}, dimension(kHuge));
  all.graph("an input whose bytes overflow", "x", {4, 3}, dimension(kHuge / 4));
  all.graph("an input of the least integer", "x", {2, 3}, dimension(kLeast));
  all.graph("an input of terabytes", "", {2, 3}, dimension(kLarge));
  all.graph("an input of a thousand dimensions", "x", Ints(1000, 1), relu);
  const auto type = [](auto change) {
    return [change](onnx::ModelProto& model) {
      relu(model);
      change(*model.mutable_graph()->mutable_input(0)->mutable_type());
    };
  };
  all.graph("an input without a type", "x", {2, 3}, type([](auto& of) { of.Clear(); }));
  all.graph("an input that is a sequence", "x", {2, 3},
            type([](auto& of) { of.mutable_sequence_type(); }));
  all.graph("an input of strings", "x", {2, 3}, type([](auto& of) {
              of.mutable_tensor_type()->set_elem_type(onnx::TensorProto::STRING);
            }));
  all.graph("an input of an unknown type", "x", {2, 3},
            type([](auto& of) { of.mutable_tensor_type()->set_elem_type(77); }));
}

}  // namespace

std::vector<HostileModel> hostile_models() {
  Collection all;
  add_tensors(all);
  add_external_data(all);
  add_graphs(all);
  add_versions(all);
  add_inputs(all);
  add_windows(all);
  add_operators(all);
  add_values(all);
  add_bytes(all);
  add_places(all);
  add_trees(all);
  add_control_flow(all);
  add_scans_and_lists(all);
  add_late_extents(all);
  return all.take();
}

}  // namespace morton::test
