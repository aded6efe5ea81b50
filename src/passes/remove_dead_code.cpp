// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "base/rooms.hpp"
#include "passes/passes.hpp"

namespace morton::passes {
namespace {

/// The tensors that an output of the graph depends on.
std::set<TensorId> needed_tensors(const Graph& graph) {
  std::set<TensorId> needed(graph.outputs.begin(), graph.outputs.end());
  for (const StateUpdate& update : graph.updates) needed.insert({update.state, update.value});
  needed.erase(kNoTensor);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool lives =
        std::ranges::any_of(node->outputs, [&](TensorId id) { return needed.contains(id); });
    if (!lives) continue;
    needed.insert(node->inputs.begin(), node->inputs.end());
    needed.erase(kNoTensor);
  }
  return needed;
}

int remove_nodes(Graph& graph, const std::set<TensorId>& needed) {
  int removed = 0;
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    for (TensorId& id : node.outputs) {
      if (id == kNoTensor || needed.contains(id)) continue;
      id = kNoTensor;
      ++removed;
    }
    while (!node.outputs.empty() && node.outputs.back() == kNoTensor) node.outputs.pop_back();
    if (!node.outputs.empty()) kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  return removed;
}

int remove_tensors(Graph& graph, std::set<TensorId> needed) {
  needed.insert(graph.inputs.begin(), graph.inputs.end());
  Indexed<TensorId, GraphTensor> kept;
  std::map<TensorId, TensorId> new_id{{kNoTensor, kNoTensor}};
  for (const TensorId id : needed) {
    new_id[id] = kept.add(std::move(graph.tensor(id)));
  }
  const auto renumber = [&](std::vector<TensorId>& ids) {
    for (TensorId& id : ids) id = new_id.at(id);
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
    update.state = new_id.at(update.state);
    update.value = new_id.at(update.value);
  }
  for (OutputCount& late : graph.counts) {
    late.output = new_id.at(late.output);
    late.count = new_id.at(late.count);
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
