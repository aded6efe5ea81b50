// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/layer_report.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/shape.hpp"
#include "passes/rewrite.hpp"

namespace morton::api {
namespace {

using passes::constant_data;

bool may_have_weights(const Node& node) {
  return (node.op == "Conv" || node.op == "Gemm" || node.op == "MatMul") && node.inputs.size() >= 2;
}

/// Whether nothing that a run gives goes into the tensor.
bool follows_from_constants(const Graph& graph, TensorId id) {
  if (id == kNoTensor || graph.tensor(id).kind == GraphTensor::Kind::constant) return true;
  const NodeId producer = graph.producer(id);
  if (!producer) return false;
  const Node& node = graph.node(producer);
  return node.bodies.empty() && std::ranges::all_of(node.inputs, [&](TensorId input) {
           return follows_from_constants(graph, input);
         });
}

/// Why the node is no layer; empty where it is none that anybody expects.
std::string reason_of(const Graph& graph, const Node& node) {
  if (follows_from_constants(graph, node.inputs[0])) {
    const bool all = follows_from_constants(graph, node.inputs[1]);
    return all ? "" : "its weights are the first operand";
  }
  const Tensor* weights = constant_data(graph, node.inputs[1]);
  if (weights != nullptr) {
    if (weights->dtype() != DType::f32)
      return "weights of " + std::string(name_of(weights->dtype()));
    return "weights " + to_string(weights->shape());
  }
  if (follows_from_constants(graph, node.inputs[1])) {
    const NodeId producer = graph.producer(node.inputs[1]);
    const bool of_codes = producer && graph.node(producer).op == "DequantizeLinear";
    return of_codes ? "its weights are codes already" : "a node computes its weights";
  }
  return node.op == "MatMul" ? "" : "its weights are no constant";
}

QuantizedLayer told_of(const Graph& graph, const Node& node, std::string reason) {
  QuantizedLayer layer;
  layer.node = node.name;
  layer.op = node.op;
  layer.is_quantized = false;
  layer.why_not = std::move(reason);
  for (const TensorId id : {node.inputs[0], node.inputs[1]}) {
    const Tensor* data = constant_data(graph, id);
    if (data != nullptr) layer.weight_bytes_before = static_cast<std::int64_t>(data->bytes());
  }
  layer.weight_bytes_after = layer.weight_bytes_before;
  return layer;
}

/// Whether an operand is a constant, of the body or maybe of what is around it.
bool may_be_weights(const Graph& body, TensorId id) {
  if (id == kNoTensor) return false;
  const bool is_given = std::ranges::find(body.inputs, id) != body.inputs.end();
  return is_given || follows_from_constants(body, id);
}

void add_bodies_of(const Node& owner, std::vector<QuantizedLayer>& found) {
  for (const auto& [name, body] : owner.bodies) {
    for (const Node& node : body.graph->nodes) {
      if (may_have_weights(node) && may_be_weights(*body.graph, node.inputs[1])) {
        found.push_back(told_of(*body.graph, node, "inside " + owner.op));
      }
      add_bodies_of(node, found);
    }
  }
}

}  // namespace

std::vector<QuantizedLayer> layers_in_float(const Graph& graph,
                                            const std::vector<WeightLayer>& layers) {
  std::set<std::size_t> taken;
  for (const WeightLayer& layer : layers) taken.insert(layer.node);
  std::vector<QuantizedLayer> found;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (may_have_weights(node) && !taken.contains(n)) {
      const std::string reason = reason_of(graph, node);
      if (!reason.empty()) found.push_back(told_of(graph, node, reason));
    }
    add_bodies_of(node, found);
  }
  return found;
}

void add_up_weights(const std::vector<WeightLayer>& layers, QuantizedModel& told) {
  std::set<TensorId> before;
  std::set<std::pair<TensorId, std::optional<std::size_t>>> after;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const QuantizedLayer& layer = told.layers[i];
    const auto form = layer.is_quantized ? std::optional(layers[i].channel) : std::nullopt;
    if (before.insert(layers[i].weights).second) {
      told.weight_bytes_before += layer.weight_bytes_before;
    }
    if (after.insert({layers[i].weights, form}).second) {
      told.weight_bytes_after += layer.weight_bytes_after;
    }
  }
}

}  // namespace morton::api
