// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/rooms.hpp"
#include "training/files/event_file.hpp"

namespace morton::training {
namespace {

// Numbers of the fields, from tensorflow/core/framework/{graph,node_def,attr_value}.proto.
constexpr int kGraphNode = 1;
constexpr int kGraphVersions = 4;
constexpr int kVersionsProducer = 1;
constexpr int kNodeName = 1;
constexpr int kNodeOp = 2;
constexpr int kNodeInput = 3;
constexpr int kNodeAttr = 5;
constexpr int kMapKey = 1;
constexpr int kMapValue = 2;
constexpr int kValueList = 1;
constexpr int kValueText = 2;
constexpr int kValueInteger = 3;
constexpr int kValueReal = 4;
constexpr int kListShape = 7;
constexpr int kShapeDim = 2;
constexpr int kDimSize = 1;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
}

/// A name as TensorFlow allows it ([A-Za-z0-9.][A-Za-z0-9_.\-/]*, no empty parts), that no other
/// node has.
class Names {
 public:
  std::string unique(const std::string& name) {
    std::string allowed;
    for (const char c : name) {
      const bool joint = c == '/' && !allowed.empty() && allowed.back() != '/';
      if (c == '/' && !joint) continue;
      allowed += is_plain(c) || c == '-' || joint ? c : '_';
    }
    while (allowed.ends_with('/')) allowed.pop_back();
    if (allowed.empty() || !is_plain(allowed.front())) allowed = "n" + allowed;
    std::string result = allowed;
    for (int i = 1; !taken_.insert(result).second; ++i) {
      result = allowed + "_" + std::to_string(i);
    }
    return result;
  }

 private:
  std::set<std::string> taken_;
};

struct AttributeValue {
  WireMessage& value;

  void operator()(std::int64_t number) const { value.integer(kValueInteger, number); }
  void operator()(double number) const { value.real32(kValueReal, static_cast<float>(number)); }
  void operator()(const std::string& text) const { value.text(kValueText, text); }
  void operator()(const Tensor& tensor) const {
    value.text(kValueText, "tensor " + to_string(tensor.shape()));
  }
  void operator()(const std::vector<std::int64_t>& numbers) const {
    WireMessage list;
    for (const std::int64_t number : numbers) list.integer(kValueInteger, number);
    value.message(kValueList, list);
  }
  void operator()(const std::vector<double>& numbers) const {
    WireMessage list;
    for (const double number : numbers) list.real32(kValueReal, static_cast<float>(number));
    value.message(kValueList, list);
  }
  void operator()(const std::vector<std::string>& texts) const {
    WireMessage list;
    for (const std::string& text : texts) list.text(kValueText, text);
    value.message(kValueList, list);
  }
};

void add_attribute(WireMessage& node, const std::string& name, const WireMessage& value) {
  WireMessage entry;
  entry.text(kMapKey, name);
  entry.message(kMapValue, value);
  node.message(kNodeAttr, entry);
}

/// What TensorBoard writes on the edges.
void add_shapes(WireMessage& node, const Graph& graph, const std::vector<TensorId>& outputs) {
  WireMessage list;
  for (const TensorId id : outputs) {
    if (id == kNoTensor) continue;
    const GraphTensor& tensor = graph.tensor(id);
    WireMessage shape;
    for (const std::int64_t extent :
         tensor.kind == GraphTensor::Kind::constant ? tensor.data.shape() : tensor.shape) {
      WireMessage dim;
      dim.integer(kDimSize, extent);
      shape.message(kShapeDim, dim);
    }
    list.message(kListShape, shape);
  }
  WireMessage value;
  value.message(kValueList, list);
  add_attribute(node, "_output_shapes", value);
}

std::string operation_of(GraphTensor::Kind kind) {
  switch (kind) {
    case GraphTensor::Kind::input:
      return "Placeholder";
    case GraphTensor::Kind::constant:
      return "Const";
    case GraphTensor::Kind::state:
      return "Variable";
    case GraphTensor::Kind::activation:
      break;
  }
  return "";
}

}  // namespace

WireMessage graph_def(const Graph& graph) {
  WireMessage result;
  Names names;
  std::map<TensorId, std::string> sources;  // "node" or "node:1"
  for (const TensorId id : graph.tensors.ids()) {
    const GraphTensor& tensor = graph.tensors[id];
    const std::string operation = operation_of(tensor.kind);
    if (operation.empty()) continue;
    sources[id] = names.unique(tensor.name);
    WireMessage node;
    node.text(kNodeName, sources[id]);
    node.text(kNodeOp, operation);
    add_shapes(node, graph, {id});
    result.message(kGraphNode, node);
  }
  for (const Node& operation : graph.nodes) {
    const std::string name = names.unique(operation.name.empty() ? operation.op : operation.name);
    WireMessage node;
    node.text(kNodeName, name);
    node.text(kNodeOp, operation.op);
    for (const TensorId input : operation.inputs) {
      if (sources.contains(input)) node.text(kNodeInput, sources[input]);
    }
    for (const auto& [key, attribute] : operation.attributes) {
      WireMessage value;
      std::visit(AttributeValue{value}, attribute);
      add_attribute(node, key, value);
    }
    add_shapes(node, graph, operation.outputs);
    result.message(kGraphNode, node);
    for (std::size_t i = 0; i < operation.outputs.size(); ++i) {
      sources[operation.outputs[i]] = i == 0 ? name : name + ":" + std::to_string(i);
    }
  }
  constexpr std::int64_t kProducer = 22;
  WireMessage versions;
  versions.integer(kVersionsProducer, kProducer);
  result.message(kGraphVersions, versions);
  return result;
}

}  // namespace morton::training
