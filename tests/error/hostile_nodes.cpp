// SPDX-License-Identifier: Apache-2.0
//
// Attributes, shapes and operators that cannot be.
#include <cmath>

#include "error/hostile_collection.hpp"
#include "support/rooms.hpp"

namespace morton::test {
void add_windows(Collection& all) {
  const Ints image{1, 2, 7, 7};
  const std::vector<Ints> filter{{3, 2, 3, 3}};
  const auto conv = [&](const std::string& name, auto change) {
    all.node("convolution: " + name, "node_y", "Conv", image, filter, change);
  };
  for (const char* list : {"strides", "dilations"}) {
    const std::string which(list);
    conv(which + " of zero", [which](auto& node) { set(node, which, Ints{0, 1}); });
    conv(which + " below zero", [which](auto& node) { set(node, which, Ints{-1, 1}); });
    conv("three " + which, [which](auto& node) { set(node, which, Ints{1, 1, 1}); });
    conv(which + " as one number", [which](auto& node) { set(node, which, 1); });
    conv(which + " as text", [which](auto& node) { set_text(node, which, "1,1"); });
  }
  conv("dilations of 2^40", [](auto& node) { set(node, "dilations", Ints{kLarge, 1}); });
  conv("dilations of 2^62", [](auto& node) { set(node, "dilations", Ints{kHuge, kHuge}); });
  conv("pads of 2^62", [](auto& node) { set(node, "pads", Ints{kHuge, 0, kHuge, 0}); });
  conv("pads of 2^40", [](auto& node) { set(node, "pads", Ints{kLarge, 0, 0, 0}); });
  conv("pads below zero", [](auto& node) { set(node, "pads", Ints{-9, 0, 0, 0}); });
  conv("three pads", [](auto& node) { set(node, "pads", Ints{1, 1, 1}); });
  conv("no groups", [](auto& node) { set(node, "group", 0); });
  conv("groups below zero", [](auto& node) { set(node, "group", -1); });
  conv("groups that do not divide", [](auto& node) { set(node, "group", 5); });
  conv("2^62 groups", [](auto& node) { set(node, "group", kHuge); });
  conv("another kernel_shape", [](auto& node) { set(node, "kernel_shape", Ints{5, 5}); });
  conv("an unknown auto_pad", [](auto& node) { set_text(node, "auto_pad", "SOMEHOW"); });
  conv("an unknown attribute", [](auto& node) { set(node, "frobnication", 1); });
  conv("an attribute twice", [](auto& node) {
    set(node, "group", 1);
    set(node, "group", 1);
  });
  conv("an attribute without a name", [](auto& node) { set(node, "", 1); });
  conv("an attribute without a type", [](auto& node) { attribute(node, "group").set_i(1); });
  conv("an attribute of a function",
       [](auto& node) { attribute(node, "group").set_ref_attr_name("g"); });
  all.node("convolution: an empty filter", "", "Conv", image, {{3, 2, 0, 3}}, [](auto&) {});
  all.node("convolution: other channels", "node_y", "Conv", image, {{3, 5, 3, 3}}, [](auto&) {});
  all.node("convolution: a filter of two dimensions", "node_y", "Conv", image, {{3, 2}},
           [](auto&) {});
  all.node("convolution: a bias of another size", "node_y", "Conv", image, {{3, 2, 3, 3}, {4}},
           [](auto&) {});
  all.node("convolution: a filter above the image", "node_y", "Conv", image, {{3, 2, 9, 9}},
           [](auto&) {});
  for (const char* op : {"MaxPool", "AveragePool"}) {
    const auto pool = [&](const std::string& name, auto change) {
      all.node(std::string(op) + ": " + name, "node_y", op, image, {}, change);
    };
    pool("no kernel_shape", [](auto&) {});
    pool("a window of zero", [](auto& node) { set(node, "kernel_shape", Ints{0, 2}); });
    pool("a window below zero", [](auto& node) { set(node, "kernel_shape", Ints{-2, 2}); });
    pool("a window of 2^62", [](auto& node) { set(node, "kernel_shape", Ints{kHuge, 2}); });
    pool("a window above the image", [](auto& node) { set(node, "kernel_shape", Ints{9, 9}); });
    pool("strides of zero", [](auto& node) {
      set(node, "kernel_shape", Ints{2, 2});
      set(node, "strides", Ints{0, 0});
    });
    pool("pads of 2^62", [](auto& node) {
      set(node, "kernel_shape", Ints{2, 2});
      set(node, "pads", Ints{kHuge, kHuge, kHuge, kHuge});
    });
  }
}

void add_operators(Collection& all) {
  const Ints shape{2, 3};
  const auto reshape = [&](const std::string& name, const Ints& to) {
    all.graph("reshape: " + name, "node_y", shape, [to](auto& model) {
      add_list(model, "to", to);
      add_node(model, "Reshape", {"x", "to"}, "y");
    });
  };
  reshape("to 2^62", {kHuge});
  reshape("to a product that overflows", {kHuge, 4});
  reshape("to -2", {-2, 3});
  reshape("two extents left open", {-1, -1});
  reshape("another number of elements", {7});
  reshape("an open extent that does not divide", {-1, 4});
  reshape("zero beyond the input's dimensions", {2, 3, 0});
  reshape("to the least integer", {kLeast, 1});
  all.node("reshape: to reals", "node_y", "Reshape", shape, {{2}}, [](auto&) {});
  all.node("product: other extents", "node_y", "MatMul", shape, {{4, 5}}, [](auto&) {});
  all.node("gemm: other extents", "node_y", "Gemm", shape, {{4, 5}}, [](auto&) {});
  all.node("gemm: alpha as text", "node_y", "Gemm", shape, {{3, 5}},
           [](auto& node) { set_text(node, "alpha", "1"); });
  all.node("gemm: three dimensions", "node_y", "Gemm", {1, 2, 3}, {{3, 5}}, [](auto&) {});
  all.node("gemm: an addend that does not broadcast", "node_y", "Gemm", shape, {{3, 5}, {4}},
           [](auto&) {});
  all.node("sum that does not broadcast", "node_y", "Add", shape, {{4}}, [](auto&) {});
  for (const std::int64_t axis : {std::int64_t{2}, std::int64_t{-3}, kHuge, kLeast}) {
    all.node("softmax: axis " + std::to_string(axis), "node_y", "Softmax", shape, {},
             [axis](auto& node) { set(node, "axis", axis); });
    all.node("flatten: axis " + std::to_string(axis + (axis == 2 ? 1 : 0)), "node_y", "Flatten",
             shape, {}, [axis](auto& node) { set(node, "axis", axis + (axis == 2 ? 1 : 0)); });
    all.node("concatenation: axis " + std::to_string(axis), "node_y", "Concat", shape, {{2, 3}},
             [axis](auto& node) { set(node, "axis", axis); });
  }
  all.node("transposition: an axis twice", "node_y", "Transpose", shape, {}, [](auto& node) {
    set(node, "perm", Ints{0, 0});
  });
  all.node("transposition: an axis beyond", "node_y", "Transpose", shape, {}, [](auto& node) {
    set(node, "perm", Ints{0, 5});
  });
  for (const char* op : {"Expand", "Tile"}) {
    all.graph(std::string(op) + " to 2^62", "node_y", shape, [op](auto& model) {
      add_list(model, "to", {kHuge, kHuge});
      add_node(model, op, {"x", "to"}, "y");
    });
  }
  all.graph("padding by 2^62", "node_y", shape, [](auto& model) {
    add_list(model, "pads", {kHuge, 0, 0, kHuge});
    add_node(model, "Pad", {"x", "pads"}, "y");
  });
  all.graph("a tensor that doubles sixty times", "node_", shape, [](auto& model) {
    std::string last = "x";
    for (int i = 0; i < 62; ++i) {
      const std::string next = "d" + std::to_string(i);
      set(add_node(model, "Concat", {last, last}, next), "axis", 0);
      last = next;
    }
    add_node(model, "Relu", {last}, "y");
  });
  all.graph("a scale that is no number", "node_y", shape, [](auto& model) {
    add_node(model, "QLinearMatMul", std::vector<std::string>(8, "nan"), "y");
    add_weights(model, "nan", {1});
    model.mutable_graph()->mutable_initializer(0)->set_float_data(0, std::nanf(""));
  });
  all.graph("a branch", "node_y", shape, [](auto& model) {
    onnx::NodeProto& node = add_node(model, "If", {"x"}, "y");
    onnx::AttributeProto& branch = attribute(node, "then_branch");
    branch.set_type(onnx::AttributeProto::GRAPH);
    branch.mutable_g()->set_name("inner");
  });
  all.graph("a constant without a value", "node_y", shape,
            [](auto& model) { add_node(model, "Constant", {}, "y"); });
  all.graph("a constant of two values", "node_y", shape, [](auto& model) {
    onnx::NodeProto& node = add_node(model, "Constant", {}, "y");
    set(node, "value_int", 1);
    set(node, "value_ints", Ints{1});
  });
}

}  // namespace morton::test
