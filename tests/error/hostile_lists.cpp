// SPDX-License-Identifier: Apache-2.0
//
// Scans and lists of tensors that cannot be, as values and as inputs.
#include "error/hostile_collection.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

void add_scans(Collection& all) {
  const auto scan = [&](const std::string& name, const std::string& part, auto change) {
    all.graph("scan: " + name, part, {2, 3}, [change](auto& model) {
      onnx::NodeProto& node = add_node(model, "Scan", {"x"}, "y");
      add_inner(add_body(node, "body", {"e"}, {"t"}), "Neg", {"e"}, "t");
      change(model, node);
    });
  };
  scan("no number of inputs", "num_scan_inputs", [](auto&, auto&) {});
  for (const std::int64_t count :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{2}, kHuge, kLeast}) {
    scan("a number of inputs of " + std::to_string(count), "num_scan_inputs",
         [count](auto&, auto& node) { set(node, "num_scan_inputs", count); });
  }
  for (const char* list :
       {"scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"}) {
    const std::string which(list);
    scan("two " + which, which, [which](auto&, auto& node) {
      set(node, "num_scan_inputs", 1);
      set(node, which, Ints{0, 0});
    });
  }
  for (const std::int64_t axis : {std::int64_t{2}, std::int64_t{-3}, kHuge}) {
    scan("axis " + std::to_string(axis), "node_y", [axis](auto&, auto& node) {
      set(node, "num_scan_inputs", 1);
      set(node, "scan_input_axes", Ints{axis});
    });
  }
  scan("inputs of two lengths", "have 2 and 3 elements", [](auto& model, auto& node) {
    add_weights(model, "w", {3, 3});
    node.add_input("w");
    node.clear_attribute();
    set(node, "num_scan_inputs", 2);
    add_inner(add_body(node, "body", {"e", "f"}, {"t"}), "Add", {"e", "f"}, "t");
  });
  scan("a body of two inputs", "node_y", [](auto&, auto& node) {
    node.clear_attribute();
    set(node, "num_scan_inputs", 1);
    add_inner(add_body(node, "body", {"e", "f"}, {"t"}), "Add", {"e", "f"}, "t");
  });
  all.graph("scan: a million elements", "turns", {1000000, 1}, [](auto& model) {
    onnx::NodeProto& node = add_node(model, "Scan", {"x"}, "y");
    set(node, "num_scan_inputs", 1);
    add_inner(add_body(node, "body", {"e"}, {"t"}), "Neg", {"e"}, "t");
  });
}

void add_lists(Collection& all) {
  const auto list = [&](const std::string& name, const std::string& part, auto change) {
    all.graph("list: " + name, part, {2, 3}, [change](auto& model) {
      model.mutable_opset_import(0)->set_version(17);
      add_list(model, "zero", {0});
      add_list(model, "two", {2});
      add_list(model, "far", {kHuge});
      add_list(model, "back", {-3});
      add_inner(*model.mutable_graph(), "SequenceConstruct", {"x", "x"}, "l");
      change(model);
    });
  };
  const auto read = [&](const std::string& name, const std::string& part, const std::string& op,
                        const Names& inputs) {
    list(name, part, [op, inputs](auto& model) { add_node(model, op, inputs, "y"); });
  };
  for (const char* place : {"two", "far", "back"}) {
    read(std::string("a place beyond, ") + place, "the list has 2 elements", "SequenceAt",
         {"l", place});
    read(std::string("nothing to erase, ") + place, "the list has 2 elements", "SequenceErase",
         {"l", place});
  }
  read("two places", "node_y", "SequenceAt", {"l", "l"});
  read("an element of a tensor", "is no list", "SequenceAt", {"x", "zero"});
  read("an insertion into a tensor", "is no list", "SequenceInsert", {"x", "x"});
  read("the length of a tensor", "is no list", "SequenceLength", {"x"});
  read("a tensor joined", "is no list", "ConcatFromSequence", {"x"});
  read("an operator that reads one", "reads a list", "Relu", {"l"});
  read("a sum of two", "reads a list", "Add", {"l", "l"});
  read("lists of lists as a result", "is no tensor", "SequenceInsert", {"l", "l"});
  list("a result whose element has another's name", "'y[1]'", [](auto& model) {
    add_inner(*model.mutable_graph(), "Neg", {"x"}, "y[1]");
    add_inner(*model.mutable_graph(), "SequenceConstruct", {"y[1]", "x"}, "m");
    add_node(model, "Identity", {"m"}, "y");
  });
  list("joined without an axis", "node_y",
       [](auto& model) { set(add_node(model, "ConcatFromSequence", {"l"}, "y"), "axis", kHuge); });
  list("an empty one joined", "its list is empty", [](auto& model) {
    add_inner(*model.mutable_graph(), "SequenceEmpty", {}, "none");
    add_node(model, "ConcatFromSequence", {"none"}, "y");
  });
  list("an empty one erased", "its list is empty", [](auto& model) {
    add_inner(*model.mutable_graph(), "SequenceEmpty", {}, "none");
    add_node(model, "SequenceErase", {"none"}, "y");
  });
  list("parts of no element", "node_y", [](auto& model) {
    onnx::TensorProto& none = *model.mutable_graph()->add_initializer();
    none.set_name("none");
    none.set_data_type(onnx::TensorProto::INT64);
    none.add_int64_data(0);
    add_node(model, "SplitToSequence", {"x", "none"}, "y");
  });
  list("parts of more than there is", "", [](auto& model) {
    add_list(model, "parts", {1, 9});
    add_inner(*model.mutable_graph(), "SplitToSequence", {"x", "parts"}, "p");
    add_node(model, "SequenceAt", {"p", "zero"}, "y");
  });
  list("parts along an axis beyond", "",
       [](auto& model) { set(add_node(model, "SplitToSequence", {"x"}, "y"), "axis", kHuge); });
  list("an optional value that is not there", "is not there", [](auto& model) {
    add_inner(*model.mutable_graph(), "Optional", {}, "none");
    add_node(model, "OptionalGetElement", {"none"}, "y");
  });
  list("a map of a tensor", "is no list", [](auto& model) {
    auto& node = add_node(model, "SequenceMap", {"x"}, "y");
    add_inner(add_body(node, "body", {"e"}, {"t"}), "Neg", {"e"}, "t");
  });
  list("a map of lists of two lengths", "have 2 and 3 elements", [](auto& model) {
    add_inner(*model.mutable_graph(), "SequenceInsert", {"l", "x"}, "longer");
    auto& node = add_node(model, "SequenceMap", {"l", "longer"}, "y");
    add_inner(add_body(node, "body", {"e", "f"}, {"t"}), "Add", {"e", "f"}, "t");
  });
  list("of 2^62 elements", "", [](auto& model) {
    auto& node = add_node(model, "Loop", {"far", "", "l"}, "y");
    auto& body = add_body(node, "body", {"i", "c", "s"}, {"d", "t"});
    add_inner(body, "Identity", {"c"}, "d");
    add_inner(body, "SequenceInsert", {"s", "x"}, "t");
  });
}

/// The type of a list input `l`, to be filled in.
onnx::TypeProto& add_list_input(onnx::ModelProto& model) {
  onnx::ValueInfoProto& input = *model.mutable_graph()->add_input();
  input.set_name("l");
  onnx::TypeProto& elements = *input.mutable_type()->mutable_sequence_type()->mutable_elem_type();
  elements.mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  return elements;
}

void add_list_inputs(Collection& all) {
  const auto input = [&](const std::string& name, const std::string& part, auto change) {
    all.graph("list input: " + name, part, {2, 3}, [change](auto& model) {
      model.mutable_opset_import(0)->set_version(17);
      change(model, add_list_input(model));
      add_node(model, "SequenceLength", {"l"}, "y");
    });
  };
  input("of lists", "lists inside of lists",
        [](auto&, auto& type) { type.mutable_sequence_type()->mutable_elem_type(); });
  input("of maps", "a map", [](auto&, auto& type) { type.mutable_map_type(); });
  input("of nothing", "input 'l'", [](auto&, auto& type) { type.clear_tensor_type(); });
  input("of texts", "strings", [](auto&, auto& type) {
    type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::STRING);
  });
  input("of no type", "input 'l'",
        [](auto&, auto& type) { type.mutable_tensor_type()->set_elem_type(99); });
  input("of nine dimensions", "9 dimensions", [](auto&, auto& type) {
    for (int i = 0; i < 9; ++i) type.mutable_tensor_type()->mutable_shape()->add_dim();
  });
  input("of 2^120 elements", "input 'l'", [](auto&, auto& type) {
    for (int i = 0; i < 2; ++i) {
      type.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(kHuge);
    }
  });
  input("whose element is another input", "'l[1000000000]'", [](auto& model, auto&) {
    onnx::ValueInfoProto other = model.graph().input(0);
    other.set_name("l[1000000000]");
    *model.mutable_graph()->add_input() = other;
  });
  input("inside of itself, twenty times", "input 'l'", [](auto&, auto& type) {
    onnx::TypeProto* inner = &type;
    for (int i = 0; i < 20; ++i) {
      inner = inner->mutable_optional_type()->mutable_elem_type();
    }
  });
}

void add_counts(Collection& all) {
  const std::vector<std::pair<std::string, int>> wrong{{"If", 0},
                                                       {"Scan", 0},
                                                       {"SequenceMap", 0},
                                                       {"SequenceEmpty", 1},
                                                       {"SequenceAt", 1},
                                                       {"SequenceAt", 3},
                                                       {"SequenceInsert", 1},
                                                       {"SequenceInsert", 4},
                                                       {"SequenceErase", 0},
                                                       {"SequenceErase", 3},
                                                       {"SequenceLength", 0},
                                                       {"SequenceLength", 2},
                                                       {"SplitToSequence", 0},
                                                       {"SplitToSequence", 3},
                                                       {"ConcatFromSequence", 0},
                                                       {"ConcatFromSequence", 2},
                                                       {"Optional", 2},
                                                       {"OptionalGetElement", 0},
                                                       {"OptionalHasElement", 2},
                                                       {"SequenceConstruct", 0}};
  for (const auto& [op, count] : wrong) {
    all.graph(op + " of " + std::to_string(count) + " inputs", "node_y", {2, 3},
              [op, count](auto& model) {
                model.mutable_opset_import(0)->set_version(17);
                add_node(model, op, Names(static_cast<std::size_t>(count), "x"), "y");
              });
  }
  // Without the graph that they need.
  for (const char* op : {"SequenceMap", "Loop"}) {
    all.node(std::string(op) + " without a graph", "node_y", op, {2, 3}, {}, [](auto&) {});
  }
}

}  // namespace

void add_scans_and_lists(Collection& all) {
  add_scans(all);
  add_lists(all);
  add_list_inputs(all);
  add_counts(all);
}

}  // namespace morton::test
