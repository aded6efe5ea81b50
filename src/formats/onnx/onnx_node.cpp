// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_node.hpp"

#include <utility>

#include "base/error.hpp"
#include "formats/onnx/onnx_lists.hpp"

namespace morton::formats {
namespace {

Attribute to_attribute(const onnx::AttributeProto& proto, ExternalData& external,
                       const std::string& where) {
  using Proto = onnx::AttributeProto;
  switch (proto.type()) {
    case Proto::INT:
      return static_cast<std::int64_t>(proto.i());
    case Proto::FLOAT:
      return static_cast<double>(proto.f());
    case Proto::STRING:
      return proto.s();
    case Proto::INTS:
      return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    case Proto::FLOATS:
      return std::vector<double>(proto.floats().begin(), proto.floats().end());
    case Proto::STRINGS:
      return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    case Proto::TENSOR:
      return to_tensor(proto.t(), nullptr, external, where);
    case Proto::GRAPH:
      throw InternalError(where + " is a graph, which the graph's builder takes");
    case Proto::GRAPHS:
      throw UnsupportedError(where + " holds a list of graphs");
    case Proto::SPARSE_TENSOR:
    case Proto::SPARSE_TENSORS:
      throw UnsupportedError(where + " holds a sparse tensor");
    case Proto::TENSORS:
      throw UnsupportedError(where + " holds a list of tensors");
    case Proto::TYPE_PROTO:
      return std::string();  // Optional has one, and says nothing by it that its input does not
    case Proto::TYPE_PROTOS:
      throw UnsupportedError(where + " holds types");
    case Proto::UNDEFINED:
      break;
  }
  throw ModelError(where + " has no type");
}

Tensor of_floats(const Shape& shape, const std::vector<double>& values) {
  const std::vector<float> narrow(values.begin(), values.end());
  return Tensor::from(shape, std::span<const float>(narrow));
}

}  // namespace

std::map<std::string, Attribute> take_attributes(onnx::NodeProto& node, ExternalData& external,
                                                 const std::string& where) {
  std::map<std::string, Attribute> attributes;
  const bool is_tree = keeps_lists_as_tensors(node.domain() + "." + node.op_type());
  for (onnx::AttributeProto& written : *node.mutable_attribute()) {
    if (written.type() == onnx::AttributeProto::GRAPH) continue;
    onnx::AttributeProto proto;  // gone after its turn: ensembles of trees have millions of numbers
    proto.Swap(&written);
    const std::string here = where + ": attribute " + in_quotes(proto.name());
    if (proto.name().empty()) throw ModelError(where + ": an attribute has no name");
    if (!proto.ref_attr_name().empty()) {
      throw UnsupportedError(here +
                             " refers to an attribute of a function, and stands outside of one");
    }
    // How often nodes are passed, which nothing depends on.
    if (is_tree && proto.name().starts_with("nodes_hitrates")) continue;
    Attribute value = is_tree && is_long_list(proto) ? Attribute(to_tensor_list(proto, here))
                                                     : to_attribute(proto, external, here);
    if (!attributes.emplace(proto.name(), std::move(value)).second) {
      throw ModelError(here + " is given twice");
    }
  }
  return attributes;
}

Tensor constant_value(const std::map<std::string, Attribute>& attributes,
                      const std::string& where) {
  if (attributes.size() != 1) {
    throw ModelError(where + ": a Constant has one value, this has " +
                     std::to_string(attributes.size()));
  }
  const auto& [name, value] = *attributes.begin();
  if (name == "value" && std::holds_alternative<Tensor>(value)) return std::get<Tensor>(value);
  if (name == "value_int" && std::holds_alternative<std::int64_t>(value)) {
    return Tensor::from({}, std::span(&std::get<std::int64_t>(value), 1));
  }
  if (name == "value_float" && std::holds_alternative<double>(value)) {
    return of_floats({}, {std::get<double>(value)});
  }
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value);
      integers != nullptr && name == "value_ints") {
    return Tensor::from({static_cast<std::int64_t>(integers->size())},
                        std::span<const std::int64_t>(*integers));
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&value);
      reals != nullptr && name == "value_floats") {
    return of_floats({static_cast<std::int64_t>(reals->size())}, *reals);
  }
  if (name == "value_string" || name == "value_strings") {
    throw UnsupportedError(where + ": a Constant of strings");
  }
  throw ModelError(where + ": a Constant cannot have the attribute " + in_quotes(name) +
                   " of this type");
}

}  // namespace morton::formats
