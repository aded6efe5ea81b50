// SPDX-License-Identifier: Apache-2.0
//
// Operators that read shapes, places and amounts from their inputs.
#include <cmath>

#include "error/hostile_collection.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// y = op(lists...), without a look at x.
void add_planned(Collection& all, const std::string& name, const std::string& op,
                 const std::vector<Ints>& lists) {
  all.graph(op + ": " + name, "node_y", {2, 3}, [op, lists](onnx::ModelProto& model) {
    std::vector<std::string> inputs;
    for (const Ints& list : lists) {
      inputs.push_back("list" + std::to_string(inputs.size()));
      add_list(model, inputs.back(), list);
      // Of one element: a scalar.
      if (op == "Range") model.mutable_graph()->mutable_initializer()->rbegin()->clear_dims();
    }
    add_node(model, op, inputs, "y");
  });
}

/// y = op(x, lists...), which `change` spoils further.
void add_moved(Collection& all, const std::string& name, const std::string& op,
               const std::vector<Ints>& lists,
               const std::function<void(onnx::NodeProto&)>& change = {}) {
  all.graph(op + ": " + name, "node_y", {4, 6}, [=](onnx::ModelProto& model) {
    std::vector<std::string> inputs{"x"};
    for (const Ints& list : lists) {
      inputs.push_back("list" + std::to_string(inputs.size()));
      add_list(model, inputs.back(), list);
    }
    onnx::NodeProto& node = add_node(model, op, inputs, "y");
    if (change) change(node);
  });
}

/// y = Resize(x, , scales) of an image.
void add_scaled(Collection& all, const std::string& name, float scale) {
  all.graph("Resize: " + name, "node_y", {1, 2, 5, 7}, [scale](onnx::ModelProto& model) {
    add_weights(model, "scales", {4});
    onnx::TensorProto& scales = *model.mutable_graph()->mutable_initializer(0);
    for (int d = 0; d < 4; ++d) scales.set_float_data(d, d < 2 ? 1.0F : scale);
    add_node(model, "Resize", {"x", "", "scales"}, "y");
  });
}

}  // namespace

void add_values(Collection& all) {
  add_planned(all, "2^62 elements", "ConstantOfShape", {{kHuge}});
  add_planned(all, "terabytes", "ConstantOfShape", {{1 << 20, 1 << 20}});
  add_planned(all, "below zero", "ConstantOfShape", {{-1}});
  add_planned(all, "a terabyte of numbers", "Range", {{0}, {kLarge}, {1}});
  add_planned(all, "a step of zero", "Range", {{0}, {10}, {0}});
  add_planned(all, "all numbers", "Range",
              {{kLeast}, {std::numeric_limits<std::int64_t>::max()}, {1}});
  add_moved(all, "a step of zero", "Slice", {{0}, {4}, {0}, {0}});
  add_moved(all, "an axis beyond", "Slice", {{0}, {4}, {kHuge}});
  add_moved(all, "more starts than ends", "Slice", {{0, 0}, {4}});
  add_moved(all, "parts below zero", "Split", {{-2, 6}});
  add_moved(all, "parts that are too much", "Split", {{kHuge, kHuge}});
  add_moved(all, "a place beyond", "Gather", {{4}});
  add_moved(all, "the least integer as a place", "Gather", {{kLeast}});
  add_moved(all, "pads that leave less than nothing", "Pad", {{-3, 0, -3, 0}});
  add_moved(all, "three pads", "Pad", {{1, 1, 1}});
  add_moved(all, "more than there are", "TopK", {{7}});
  add_moved(all, "less than none", "TopK", {{-1}});
  add_moved(all, "an axis twice", "Squeeze", {{0, 0}});
  add_moved(all, "an axis that is not one", "Squeeze", {{1}});
  add_moved(all, "an axis of 2^62", "Unsqueeze", {{kHuge}});
  add_moved(all, "an axis twice", "Unsqueeze", {{0, 0}});
  add_moved(all, "an axis beyond", "ReduceSum", {{5}});
  add_moved(all, "the least integer as an axis", "CumSum", {{kLeast}});
  add_moved(all, "a type of no meaning", "Cast", {}, [](auto& node) { set(node, "to", 999); });
  add_moved(all, "an axis of 2^62", "ReduceMean", {},
            [](auto& node) { set(node, "axes", Ints{kHuge}); });
  all.node("DepthToSpace: blocks of zero", "node_y", "DepthToSpace", {1, 4, 2, 2}, {},
           [](auto& node) { set(node, "blocksize", 0); });
  all.node("DepthToSpace: blocks of 2^62", "node_y", "DepthToSpace", {1, 4, 2, 2}, {},
           [](auto& node) { set(node, "blocksize", kHuge); });
  all.node("SpaceToDepth: blocks of 2^62", "node_y", "SpaceToDepth", {1, 4, 2, 2}, {},
           [](auto& node) { set(node, "blocksize", kHuge); });
  all.node("ConvTranspose: strides of 2^62", "node_y", "ConvTranspose", {1, 2, 7, 7},
           {{2, 3, 3, 3}}, [](auto& node) {
             set(node, "strides", Ints{kHuge, kHuge});
           });
  all.node("ConvTranspose: dilations of 2^62", "node_y", "ConvTranspose", {1, 2, 7, 7},
           {{2, 3, 3, 3}}, [](auto& node) {
             set(node, "dilations", Ints{kHuge, kHuge});
           });
  all.node("ConvTranspose: an output_padding of 2^62", "node_y", "ConvTranspose", {1, 2, 7, 7},
           {{2, 3, 3, 3}}, [](auto& node) {
             set(node, "output_padding", Ints{kHuge, kHuge});
           });
  add_scaled(all, "to nothing", 0.0F);
  add_scaled(all, "below nothing", -2.0F);
  add_scaled(all, "by no number", std::nanf(""));
  add_scaled(all, "without end", HUGE_VALF);
  add_scaled(all, "by 1e30", 1e30F);
  add_scaled(all, "to a millionth", 1e-6F);
}

}  // namespace morton::test
