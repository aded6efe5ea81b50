// SPDX-License-Identifier: Apache-2.0
#include "passes/rewrite.hpp"

#include <algorithm>
#include <utility>

#include "ops/core/operator.hpp"

namespace morton::passes {
namespace {

template <typename T>
T attribute_of(const Node& node, const std::string& name, T otherwise) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  const T* value = std::get_if<T>(&found->second);
  return value == nullptr ? otherwise : *value;
}

/// The node that writes `from` writes `to`.
void write_instead(Graph& graph, TensorId from, TensorId to) {
  for (Node& node : graph.nodes) std::ranges::replace(node.outputs, from, to);
}

bool contains(const std::vector<TensorId>& ids, TensorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

std::string unused_tensor_name(const Graph& graph, const std::string& name) {
  if (graph.find(name) == kNoTensor) return name;
  for (int i = 1;; ++i) {
    std::string numbered = name + "." + std::to_string(i);
    if (graph.find(numbered) == kNoTensor) return numbered;
  }
}

std::string unused_node_name(const Graph& graph, const std::string& name) {
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& node) { return node.name == candidate; });
  };
  if (!taken(name)) return name;
  int number = 1;
  while (taken(name + "." + std::to_string(number))) ++number;
  return name + "." + std::to_string(number);
}

TensorId add_constant(Graph& graph, const std::string& name, Tensor data) {
  return graph.add_tensor(graph::constant_tensor(unused_tensor_name(graph, name), std::move(data)));
}

TensorId add_activation(Graph& graph, const std::string& name, DType dtype, const Shape& shape) {
  GraphTensor tensor;
  tensor.name = unused_tensor_name(graph, name);
  tensor.dtype = dtype;
  tensor.shape = shape;
  return graph.add_tensor(std::move(tensor));
}

const Tensor* constant_data(const Graph& graph, TensorId id) {
  if (id == kNoTensor) return nullptr;
  const GraphTensor& tensor = graph.tensor(id);
  return tensor.kind == GraphTensor::Kind::constant ? &tensor.data : nullptr;
}

std::vector<std::int64_t> constant_integers(const Graph& graph, TensorId id) {
  const Tensor* data = constant_data(graph, id);
  if (data == nullptr || data->dtype() != DType::i64) return {};
  const auto values = data->as<std::int64_t>();
  return {values.begin(), values.end()};
}

bool has_node(const Graph& graph, NodeId n) {
  return n && static_cast<std::size_t>(n.index()) < graph.nodes.size();
}

NodeId sole_reader(const Graph& graph, TensorId id) {
  if (graph.is_result(id)) return {};
  const std::vector<NodeId> readers = graph.consumers(id);
  if (readers.size() != 1) return {};
  const auto& inputs = graph.node(readers[0]).inputs;
  if (std::count(inputs.begin(), inputs.end(), id) != 1) return {};
  return readers[0];
}

void remove_node(Graph& graph, NodeId n) { graph.nodes.erase(graph.nodes.begin() + n.index()); }

void insert_behind(Graph& graph, NodeId n, Node node) {
  graph.nodes.insert(graph.nodes.begin() + n.index() + 1, std::move(node));
}

void redirect_readers(Graph& graph, TensorId from, TensorId to) {
  for (StateUpdate& update : graph.updates) {
    if (update.value == from) update.value = to;
  }
  for (Node& node : graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
}

bool bypass(Graph& graph, NodeId n, TensorId source) {
  const TensorId id = graph.node(n).outputs[0];
  TensorId stays = source;
  TensorId goes = id;
  if (contains(graph.outputs, id)) {
    // The graph's output keeps its name: the source's producer writes it in the source's place.
    std::swap(stays, goes);
    const bool computed = graph.tensor(goes).kind == GraphTensor::Kind::activation;
    if (!computed || contains(graph.outputs, goes)) return false;
  }
  remove_node(graph, n);
  redirect_readers(graph, goes, stays);
  for (Node& node : graph.nodes) {
    std::replace(node.outputs.begin(), node.outputs.end(), goes, stays);
  }
  return true;
}

void replace_result(Graph& graph, TensorId result, TensorId computed) {
  const GraphTensor before = graph.tensor(result);
  write_instead(graph, result,
                add_activation(graph, before.name + "/before", before.dtype, before.shape));
  write_instead(graph, computed, result);
}

bool is_byte(DType type) { return type == DType::u8 || type == DType::i8; }

bool decodes_bytes(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || ops::operator_of(node).chain == nullptr) return false;
  const auto is_constant = [&](TensorId id) {
    return graph.tensor(id).kind == GraphTensor::Kind::constant;
  };
  const GraphTensor& made = graph.tensor(node.outputs[0]);
  const GraphTensor& codes = graph.tensor(node.inputs[0]);
  return made.dtype == DType::f32 && is_byte(codes.dtype) && codes.shape == made.shape &&
         !is_constant(node.inputs[0]) &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(), is_constant);
}

std::vector<std::int64_t> integers_of(const Node& node, const std::string& name,
                                      std::vector<std::int64_t> otherwise) {
  return attribute_of(node, name, std::move(otherwise));
}

std::int64_t integer_of(const Node& node, const std::string& name, std::int64_t otherwise) {
  return attribute_of(node, name, otherwise);
}

double real_of(const Node& node, const std::string& name, double otherwise) {
  return attribute_of(node, name, otherwise);
}

std::string text_of(const Node& node, const std::string& name, const std::string& otherwise) {
  return attribute_of(node, name, otherwise);
}

}  // namespace morton::passes
