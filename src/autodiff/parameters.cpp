// SPDX-License-Identifier: Apache-2.0
#include "autodiff/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/shape.hpp"
#include "ops/core/operator.hpp"

namespace morton::autodiff {
namespace {

/// Tensors that depend on what a node with weights of its own computes. Elementwise operators
/// before the first such node bring data into shape, by constants that nobody learned.
Indexed<TensorId, bool> behind_weights(const Graph& graph) {
  Indexed<TensorId, bool> behind(graph.tensors.size(), false);
  for (const Node& node : graph.nodes) {
    const Operator& op = operator_of(node);
    bool is_behind = op.chain == nullptr && !op.inputs.parameters.empty();
    for (const TensorId id : node.inputs) {
      is_behind = is_behind || (id != kNoTensor && behind[id]);
    }
    for (const TensorId id : node.outputs) {
      if (id != kNoTensor) behind[id] = is_behind;
    }
  }
  return behind;
}

/// A scale or a bound that a model states is no parameter; the bias of a product of one column or
/// of a convolution of one channel is.
bool is_stated(const Graph& graph, TensorId id, const Node& node) {
  const GraphTensor& tensor = graph.tensor(id);
  const bool is_constant = tensor.kind == GraphTensor::Kind::constant;
  const std::int64_t size = element_count(is_constant ? tensor.data.shape() : tensor.shape);
  if (size != 1 || node.op == "PRelu") return false;
  const TensorId other = node.inputs[node.inputs[0] == id ? 1 : 0];
  const NodeId producer = node.op == "Add" ? graph.producer(other) : NodeId();
  if (!producer) return true;
  const std::string& op = graph.node(producer).op;
  const Shape& shape = graph.tensor(other).shape;
  if (shape.size() < 2) return true;
  const bool is_bias = ((op == "MatMul" || op == "Gemm") && shape.back() == 1) ||
                       ((op == "Conv" || op == "ConvTranspose") && shape[1] == 1);
  return !is_bias;
}

/// What a node takes a constant for, the surest last.
enum class Taken : std::uint8_t {
  other,   ///< nothing that anybody learns
  number,  ///< a single number where a parameter could be: stated
  scale,   ///< of an elementwise operator that is no bias: learned, or fixed
  learned
};

/// What `node` takes tensor `id` for, itself or by way of nodes that only move it. `behind` is what
/// behind_weights says.
Taken taken_by(const Graph& graph, const Indexed<TensorId, bool>& behind, const Node& node,
               TensorId id) {
  const Operator& op = operator_of(node);
  const bool is_elementwise = op.chain != nullptr;
  if (is_elementwise && !behind[node.outputs[0]]) return Taken::other;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != id ||
        std::ranges::find(op.inputs.parameters, i) == op.inputs.parameters.end()) {
      continue;
    }
    if (!is_elementwise) return Taken::learned;
    if (is_stated(graph, id, node)) return Taken::number;
    return node.op == "Add" || node.op == "PRelu" ? Taken::learned : Taken::scale;
  }
  const bool moves = op.host.alias || node.op == "Transpose";
  if (!moves || node.inputs[0] != id || node.outputs[0] == kNoTensor) return Taken::other;
  Taken taken = Taken::other;
  for (const NodeId reader : graph.consumers(node.outputs[0])) {
    taken = std::max(taken, taken_by(graph, behind, graph.node(reader), node.outputs[0]));
  }
  return taken;
}

bool is_finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.as<float>(), [](float value) { return std::isfinite(value); });
}

using TakenConstants = std::vector<std::pair<TensorId, Taken>>;

/// What the surest of its readers takes each constant for.
TakenConstants constants_of(const Graph& model) {
  const auto behind = behind_weights(model);
  TakenConstants constants;
  for (const TensorId id : model.tensors.ids()) {
    const GraphTensor& tensor = model.tensors[id];
    if (tensor.kind != GraphTensor::Kind::constant || tensor.dtype != DType::f32) continue;
    Taken taken = Taken::other;
    for (const NodeId reader : model.consumers(id)) {
      taken = std::max(taken, taken_by(model, behind, model.node(reader), id));
    }
    if (taken != Taken::other && is_finite(tensor.data)) constants.emplace_back(id, taken);
  }
  return constants;
}

/// The model's constants by their ids in the expanded graph, and what either takes them for.
TakenConstants constants_of(const WrittenOut& graphs) {
  std::map<std::string, Taken> known;
  for (const GraphTensor& tensor : graphs.model.tensors) {
    if (tensor.kind == GraphTensor::Kind::constant) known[tensor.name] = Taken::other;
  }
  for (const auto& [id, taken] : constants_of(graphs.model)) {
    known.at(graphs.model.tensor(id).name) = taken;
  }
  for (const auto& [id, taken] : constants_of(graphs.expanded)) {
    const auto found = known.find(graphs.expanded.tensor(id).name);
    if (found != known.end()) found->second = std::max(found->second, taken);
  }
  TakenConstants constants;
  for (const TensorId id : graphs.expanded.tensors.ids()) {
    const GraphTensor& tensor = graphs.expanded.tensors[id];
    const auto found = known.find(tensor.name);
    const bool is_constant = tensor.kind == GraphTensor::Kind::constant && found != known.end();
    if (is_constant && found->second != Taken::other) constants.emplace_back(id, found->second);
  }
  return constants;
}

std::vector<TensorId> parameters_among(const TakenConstants& constants) {
  std::vector<TensorId> parameters;
  for (const auto& [id, taken] : constants) {
    if (taken >= Taken::scale) parameters.push_back(id);
  }
  return parameters;
}

AmbiguousParameters ambiguous_among(const TakenConstants& constants) {
  AmbiguousParameters ambiguous;
  for (const auto& [id, taken] : constants) {
    if (taken == Taken::scale) ambiguous.scales.push_back(id);
    if (taken == Taken::number) ambiguous.numbers.push_back(id);
  }
  return ambiguous;
}

}  // namespace

std::vector<TensorId> parameters_of(const Graph& model) {
  return parameters_among(constants_of(model));
}

std::vector<TensorId> parameters_of(const WrittenOut& graphs) {
  return parameters_among(constants_of(graphs));
}

AmbiguousParameters ambiguous_parameters(const Graph& model) {
  return ambiguous_among(constants_of(model));
}

AmbiguousParameters ambiguous_parameters(const WrittenOut& graphs) {
  return ambiguous_among(constants_of(graphs));
}

}  // namespace morton::autodiff
