// SPDX-License-Identifier: Apache-2.0
#include "autodiff/form_of_use.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "ops/core/operator.hpp"

namespace morton::autodiff {
namespace {

bool is_constant(const Graph& graph, TensorId id) {
  return id != kNoTensor && graph.tensor(id).kind == GraphTensor::Kind::constant;
}

/// Whether the node only gives a constant another name.
bool renames_constant(const Graph& graph, const Node& node) {
  if (node.op != "Identity" || !is_constant(graph, node.inputs[0])) return false;
  const TensorId copy = node.outputs[0];
  return copy != kNoTensor && !graph.is_result(copy);
}

void replace_identities(Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!renames_constant(graph, node)) continue;
    const GraphTensor& source = graph.tensor(node.inputs[0]);
    GraphTensor& copy = graph.tensor(node.outputs[0]);
    copy.kind = GraphTensor::Kind::constant;
    copy.dtype = source.dtype;
    copy.shape = source.shape;
    copy.data = source.data.clone();
  }
  std::erase_if(graph.nodes, [&](const Node& node) {
    return node.op == "Identity" && is_constant(graph, node.outputs[0]);
  });
}

std::map<TensorId, int> uses_of(const Graph& graph) {
  std::map<TensorId, int> uses;
  for (const Node& node : graph.nodes) {
    for (const TensorId id : node.inputs) ++uses[id];
  }
  return uses;
}

void part_statistics(Graph& graph) {
  std::map<TensorId, int> uses = uses_of(graph);
  for (Node& node : graph.nodes) {
    if (node.op != "BatchNormalization" || node.inputs.size() < 5) continue;
    for (const std::size_t i : {std::size_t{3}, std::size_t{4}}) {
      const TensorId id = node.inputs[i];
      if (!is_constant(graph, id) || uses[id] == 1) continue;
      --uses[id];
      GraphTensor copy = graph.tensor(id);
      copy.name = node.name + (i == 3 ? "/running_mean" : "/running_variance");
      if (graph.find(copy.name) != kNoTensor)
        copy.name += "#" + std::to_string(graph.tensors.size());
      copy.data = copy.data.clone();
      node.inputs[i] = graph.add_tensor(std::move(copy));
      uses[node.inputs[i]] = 1;
    }
  }
}

/// Whether an output after the first is read.
bool reads_more(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin() + 1, node.outputs.end(), [&](TensorId id) {
    return id != kNoTensor && (graph.is_result(id) || !graph.consumers(id).empty());
  });
}

void leave_training_mode(Graph& graph) {
  for (Node& node : graph.nodes) {
    if (node.outputs.empty() || reads_more(graph, node)) continue;
    if (node.op == "BatchNormalization" && node.attributes.erase("training_mode") > 0) {
      node.outputs.resize(1);
    }
    const bool has_mode = node.op == "Dropout" && node.inputs.size() == 3;
    if (has_mode && is_constant(graph, node.inputs[2])) node.inputs.pop_back();
  }
}

}  // namespace

Graph in_form_of_use(Graph model) {
  verify(model, "as it is given");
  for (const Node& node : model.nodes) check_inputs(model, node);
  replace_identities(model);
  part_statistics(model);
  leave_training_mode(model);
  return model;
}

}  // namespace morton::autodiff
