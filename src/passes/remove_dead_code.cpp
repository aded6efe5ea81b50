// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/rooms.hpp"
#include "passes/passes.hpp"

namespace morton::passes {
namespace {

/// Marks, for each tensor, whether an output of the graph depends on it.
std::vector<bool> needed_tensors(const Graph& graph) {
  std::vector<bool> needed(graph.tensors.size(), false);
  const auto mark = [&](TensorId id) {
    if (id != kNoTensor) needed[static_cast<std::size_t>(id)] = true;
  };
  for (const TensorId id : graph.outputs) mark(id);
  for (const StateUpdate& update : graph.updates) {
    mark(update.state);
    mark(update.value);
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool lives = std::any_of(node->outputs.begin(), node->outputs.end(), [&](TensorId id) {
      return id != kNoTensor && needed[static_cast<std::size_t>(id)];
    });
    if (!lives) continue;
    for (const TensorId id : node->inputs) mark(id);
  }
  return needed;
}

int remove_nodes(Graph& graph, const std::vector<bool>& needed) {
  int removed = 0;
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    for (TensorId& id : node.outputs) {
      if (id != kNoTensor && !needed[static_cast<std::size_t>(id)]) {
        id = kNoTensor;
        ++removed;
      }
    }
    while (!node.outputs.empty() && node.outputs.back() == kNoTensor) node.outputs.pop_back();
    if (!node.outputs.empty()) kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  return removed;
}

int remove_tensors(Graph& graph, std::vector<bool> needed) {
  for (const TensorId id : graph.inputs) needed[static_cast<std::size_t>(id)] = true;
  std::vector<GraphTensor> kept;
  std::vector<TensorId> new_id(graph.tensors.size(), kNoTensor);
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    if (!needed[i]) continue;
    new_id[i] = static_cast<TensorId>(kept.size());
    kept.push_back(std::move(graph.tensors[i]));
  }
  const auto renumber = [&](std::vector<TensorId>& ids) {
    for (TensorId& id : ids) {
      if (id != kNoTensor) id = new_id[static_cast<std::size_t>(id)];
    }
  };
  const auto removed = static_cast<int>(graph.tensors.size() - kept.size());
  graph.tensors = std::move(kept);
  for (Node& node : graph.nodes) {
    renumber(node.inputs);
    renumber(node.outputs);
  }
  renumber(graph.inputs);
  renumber(graph.outputs);
  for (StateUpdate& update : graph.updates) {
    update.state = new_id[static_cast<std::size_t>(update.state)];
    update.value = new_id[static_cast<std::size_t>(update.value)];
  }
  return removed;
}

}  // namespace

int remove_dead_code(Graph& graph, const PassOptions& /*options*/) {
  const auto needed = needed_tensors(graph);
  const int outputs = remove_nodes(graph, needed);
  const int tensors = remove_tensors(graph, needed);
  return outputs > tensors ? outputs : tensors;
}

}  // namespace morton::passes
