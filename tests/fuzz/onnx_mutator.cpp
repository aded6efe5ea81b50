// SPDX-License-Identifier: Apache-2.0
#include "fuzz/onnx_mutator.hpp"

#include <onnx.pb.h>

#include <array>
#include <string>
#include <vector>

#include "fuzz/random_values.hpp"
#include "fuzz/tensor_changes.hpp"

namespace morton::test {
namespace {

/// Changes parts of a model, as its random numbers have it.
class ModelMutator {
 public:
  ModelMutator(onnx::ModelProto& model, std::uint32_t seed)
      : graph_(*model.mutable_graph()), model_(model), random_(seed) {}

  void change() {
    enum Change : std::uint8_t {
      node_edge,
      node_attribute,
      attribute_of_other,
      tensor_extent,
      tensor_number,
      tensor_kind,
      tensor_place,
      input_extent,
      input_kind,
      node_kind,
      swapped_nodes,
      copied_node,
      removed_node,
      removed_attribute,
      output_name,
      opset,
      changes
    };
    switch (static_cast<Change>(below(changes))) {
      case node_edge:
        rewire();
        break;
      case node_attribute:
        change_attribute();
        break;
      case attribute_of_other:
        copy_attribute();
        break;
      case tensor_extent:
        with(graph_.mutable_initializer(), [&](auto& t) { change_extent(t, random_); });
        break;
      case tensor_number:
        with(graph_.mutable_initializer(), [&](auto& t) { change_numbers(t, random_); });
        break;
      case tensor_kind:
        with(graph_.mutable_initializer(), [&](auto& t) { t.set_data_type(random_.kind()); });
        break;
      case tensor_place:
        with(graph_.mutable_initializer(), [&](auto& t) { change_place(t, random_); });
        break;
      case input_extent:
        change_input();
        break;
      case input_kind:
        change_input_kind();
        break;
      case node_kind:
        change_operator();
        break;
      case swapped_nodes:
        swap_nodes();
        break;
      case copied_node:
        copy_node();
        break;
      case removed_node:
        remove_one(graph_.mutable_node());
        break;
      case removed_attribute:
        with(graph_.mutable_node(), [&](auto& n) { remove_one(n.mutable_attribute()); });
        break;
      case output_name:
        with(graph_.mutable_output(), [&](auto& o) { o.set_name(any_name()); });
        break;
      default:
        with(model_.mutable_opset_import(), [&](auto& o) { o.set_version(below(24)); });
        break;
    }
  }
  [[nodiscard]] std::uint32_t below(std::size_t count) { return random_.below(count); }

 private:
  template <typename Field, typename Call>
  void with(Field* field, const Call& call) {
    if (field->size() > 0) call(*field->Mutable(random_.place(field->size())));
  }
  template <typename Field>
  void remove_one(Field* field) {
    if (field->size() > 0) {
      const auto at = random_.place(field->size());
      field->DeleteSubrange(at, 1);
    }
  }
  std::string any_name() {
    std::vector<std::string> names{""};
    for (const auto& node : graph_.node()) {
      names.insert(names.end(), node.output().begin(), node.output().end());
      names.insert(names.end(), node.input().begin(), node.input().end());
    }
    for (const auto& input : graph_.input()) names.push_back(input.name());
    for (const auto& tensor : graph_.initializer()) names.push_back(tensor.name());
    return names[below(names.size())];
  }
  void rewire() {
    with(graph_.mutable_node(), [&](onnx::NodeProto& node) {
      const auto choice = below(4);
      if (choice == 0) node.add_input(any_name());
      if (choice == 1 && node.input_size() > 0) node.mutable_input()->RemoveLast();
      if (choice >= 2) with(node.mutable_input(), [&](std::string& name) { name = any_name(); });
    });
  }
  void change_attribute() {
    with(graph_.mutable_node(), [&](onnx::NodeProto& node) {
      with(node.mutable_attribute(), [&](onnx::AttributeProto& one) { change(one); });
    });
  }
  void change(onnx::AttributeProto& one) {
    if (one.has_i()) one.set_i(random_.number(one.i()));
    if (one.has_f()) one.set_f(random_.real());
    if (one.ints_size() > 0) {
      const int place = random_.place(one.ints_size());
      one.set_ints(place, random_.number(one.ints(place)));
      if (below(4) == 0) one.add_ints(random_.number(0));
      if (below(4) == 0) one.mutable_ints()->RemoveLast();
    }
    if (one.floats_size() > 0) {
      one.set_floats(random_.place(one.floats_size()), random_.real());
      if (below(4) == 0) one.mutable_floats()->RemoveLast();
    }
    if (one.strings_size() > 0 && below(4) == 0) one.mutable_strings()->RemoveLast();
    with(one.mutable_strings(), [&](std::string& text) { text += 'x'; });
    if (one.has_t() && below(2) == 0) change_extent(*one.mutable_t(), random_);
    if (one.has_t() && below(2) == 0) change_numbers(*one.mutable_t(), random_);
    if (below(16) == 0) one.set_type(static_cast<onnx::AttributeProto::AttributeType>(below(15)));
    if (!one.has_g() || !onnx::AttributeProto::AttributeType_IsValid(one.type())) return;
    with(one.mutable_g()->mutable_node(), [&](onnx::NodeProto& inner) {
      with(inner.mutable_input(), [&](std::string& name) { name = any_name(); });
    });
  }
  void copy_attribute() {
    if (graph_.node_size() == 0) return;
    const onnx::NodeProto from = graph_.node(random_.place(graph_.node_size()));
    if (from.attribute_size() == 0) return;
    const auto which = random_.place(from.attribute_size());
    with(graph_.mutable_node(),
         [&](onnx::NodeProto& node) { *node.add_attribute() = from.attribute(which); });
  }
  void change_input() {
    with(graph_.mutable_input(), [&](onnx::ValueInfoProto& input) {
      auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
      const auto choice = below(4);
      if (choice == 0) shape.add_dim()->set_dim_value(random_.number(1));
      if (choice == 1) remove_one(shape.mutable_dim());
      if (choice >= 2)
        with(shape.mutable_dim(), [&](auto& extent) {
          if (below(8) == 0)
            extent.set_dim_param("N");
          else
            extent.set_dim_value(random_.number(extent.dim_value()));
        });
    });
  }
  void change_input_kind() {
    with(graph_.mutable_input(), [&](onnx::ValueInfoProto& input) {
      input.mutable_type()->mutable_tensor_type()->set_elem_type(random_.kind());
    });
  }
  void change_operator() {
    static constexpr std::array kOperators{"Add",
                                           "Mul",
                                           "Relu",
                                           "Cast",
                                           "Reshape",
                                           "Transpose",
                                           "Concat",
                                           "Split",
                                           "Slice",
                                           "Gather",
                                           "Conv",
                                           "ConvTranspose",
                                           "MaxPool",
                                           "AveragePool",
                                           "GlobalAveragePool",
                                           "Gemm",
                                           "MatMul",
                                           "Softmax",
                                           "ReduceSum",
                                           "ReduceMean",
                                           "Expand",
                                           "Tile",
                                           "Pad",
                                           "Resize",
                                           "Squeeze",
                                           "Unsqueeze",
                                           "Flatten",
                                           "Shape",
                                           "Range",
                                           "ConstantOfShape",
                                           "Where",
                                           "TopK",
                                           "NonZero",
                                           "OneHot",
                                           "ScatterND",
                                           "GatherND",
                                           "GatherElements",
                                           "CumSum",
                                           "Einsum",
                                           "LSTM",
                                           "GRU",
                                           "If",
                                           "Loop",
                                           "Scan",
                                           "QuantizeLinear",
                                           "DequantizeLinear",
                                           "QLinearConv",
                                           "MatMulInteger",
                                           "LayerNormalization",
                                           "BatchNormalization",
                                           "InstanceNormalization",
                                           "DepthToSpace",
                                           "SpaceToDepth",
                                           "Clip",
                                           "Pow",
                                           "ArgMax",
                                           "Trilu",
                                           "EyeLike",
                                           "Unique",
                                           "Compress",
                                           "NonMaxSuppression",
                                           "RoiAlign",
                                           "GridSample",
                                           "DFT",
                                           "Identity",
                                           "Dropout",
                                           "Upsample",
                                           "Mod",
                                           "Col2Im",
                                           "CenterCropPad"};
    with(graph_.mutable_node(),
         [&](onnx::NodeProto& node) { node.set_op_type(kOperators[below(kOperators.size())]); });
  }
  void swap_nodes() {
    if (graph_.node_size() < 2) return;
    const auto count = static_cast<std::size_t>(graph_.node_size());
    graph_.mutable_node()->SwapElements(static_cast<int>(below(count)),
                                        static_cast<int>(below(count)));
  }
  /// Behind the others, with a result of its own that is an output.
  void copy_node() {
    if (graph_.node_size() == 0 || graph_.node_size() > 24) return;
    const auto count = static_cast<std::size_t>(graph_.node_size());
    onnx::NodeProto copy = graph_.node(static_cast<int>(below(count)));
    copy.clear_name();
    for (std::string& name : *copy.mutable_output()) name += "_" + std::to_string(count);
    with(copy.mutable_input(), [&](std::string& name) { name = any_name(); });
    if (copy.output_size() > 0 && below(2) == 0) graph_.add_output()->set_name(copy.output(0));
    *graph_.add_node() = copy;
  }

  onnx::GraphProto& graph_;
  onnx::ModelProto& model_;
  RandomValues random_;
};

}  // namespace

std::string mutated_model(std::string_view bytes, std::uint32_t seed) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "";
  ModelMutator mutator(model, seed);
  const std::uint32_t changes = 1 + mutator.below(3);
  for (std::uint32_t i = 0; i < changes; ++i) mutator.change();
  return model.SerializeAsString();
}

}  // namespace morton::test
