// SPDX-License-Identifier: Apache-2.0
#include "autodiff/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "base/shape.hpp"
#include "ops/operator.hpp"

namespace morton {
namespace {

/// Tensors that depend on what a node with weights of its own computes. Elementwise operators
/// before the first such node bring data into shape, by constants that nobody learned.
std::vector<bool> behind_weights(const Graph& graph) {
  std::vector<bool> behind(graph.tensors.size(), false);
  for (const Node& node : graph.nodes) {
    const Operator& op = operator_of(node);
    bool is_behind = op.chain == nullptr && !op.parameters.empty();
    for (const TensorId id : node.inputs) {
      is_behind = is_behind || (id != kNoTensor && behind[static_cast<std::size_t>(id)]);
    }
    for (const TensorId id : node.outputs) {
      if (id != kNoTensor) behind[static_cast<std::size_t>(id)] = is_behind;
    }
  }
  return behind;
}

/// A scale or a bound that a model states is no parameter; the bias of a product of one column is.
bool is_stated(const Graph& graph, TensorId id, const Node& node) {
  const GraphTensor& tensor = graph.tensor(id);
  const bool is_constant = tensor.kind == GraphTensor::Kind::constant;
  const std::int64_t size = element_count(is_constant ? tensor.data.shape() : tensor.shape);
  if (size != 1 || node.op == "PRelu") return false;
  const TensorId other = node.inputs[node.inputs[0] == id ? 1 : 0];
  const int producer = node.op == "Add" ? graph.producer(other) : -1;
  const bool is_bias = producer >= 0 &&
                       graph.nodes[static_cast<std::size_t>(producer)].op == "MatMul" &&
                       graph.tensor(other).shape.back() == 1;
  return !is_bias;
}

/// Whether `node` takes tensor `id` for something that is learned, itself or by way of nodes that
/// only move it. `behind` is what behind_weights says.
bool is_learned_by(const Graph& graph, const std::vector<bool>& behind, const Node& node,
                   TensorId id) {
  const Operator& op = operator_of(node);
  const bool is_elementwise = op.chain != nullptr;
  if (is_elementwise && !(behind[static_cast<std::size_t>(node.outputs[0])])) return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != id || std::ranges::find(op.parameters, i) == op.parameters.end()) {
      continue;
    }
    if (!is_elementwise || !is_stated(graph, id, node)) return true;
  }
  const bool moves = op.alias || node.op == "Transpose";
  if (!moves || node.inputs[0] != id || node.outputs[0] == kNoTensor) return false;
  const auto readers = graph.consumers(node.outputs[0]);
  return std::ranges::any_of(readers, [&](int reader) {
    return is_learned_by(graph, behind, graph.nodes[static_cast<std::size_t>(reader)],
                         node.outputs[0]);
  });
}

bool is_finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.as<float>(), [](float value) { return std::isfinite(value); });
}

}  // namespace

std::vector<TensorId> parameters_of(const Graph& model) {
  const std::vector<bool> behind = behind_weights(model);
  std::vector<TensorId> parameters;
  for (std::size_t t = 0; t < model.tensors.size(); ++t) {
    const GraphTensor& tensor = model.tensors[t];
    const auto id = static_cast<TensorId>(t);
    if (tensor.kind != GraphTensor::Kind::constant || tensor.dtype != DType::f32) continue;
    const auto readers = model.consumers(id);
    const bool is_learned = std::ranges::any_of(readers, [&](int n) {
      return is_learned_by(model, behind, model.nodes[static_cast<std::size_t>(n)], id);
    });
    if (is_learned && is_finite(tensor.data)) parameters.push_back(id);
  }
  return parameters;
}

}  // namespace morton
