// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

void check_type(const Graph& graph, TensorId output, TensorId computed) {
  const GraphTensor& wanted = graph.tensor(output);
  const GraphTensor& made = graph.tensor(computed);
  if (wanted.dtype == made.dtype && wanted.shape == made.shape) return;
  throw InternalError("'" + wanted.name + "' was inferred as " +
                      std::string(name_of(wanted.dtype)) + " " + to_string(wanted.shape) +
                      " and is composed as " + std::string(name_of(made.dtype)) + " " +
                      to_string(made.shape));
}

void copy(Graph& graph, TensorId from, TensorId to) {
  check_type(graph, to, from);
  if (graph.tensor(from).kind == GraphTensor::Kind::constant) {
    graph.tensor(to).kind = GraphTensor::Kind::constant;
    graph.tensor(to).data = graph.tensor(from).data;
    return;
  }
  Node node;
  node.op = "Identity";
  node.name = unused_node_name(graph, graph.tensor(to).name);
  node.inputs = {from};
  node.outputs = {to};
  graph.nodes.push_back(std::move(node));
}

/// The nodes from `first` on write `output` where they wrote `computed`. Where none of them does,
/// it is copied.
void take_over(Graph& graph, std::size_t first, TensorId output, TensorId computed) {
  check_type(graph, output, computed);
  const auto begin = graph.nodes.begin() + static_cast<std::ptrdiff_t>(first);
  const auto writes = [&](const Node& node) {
    return std::ranges::find(node.outputs, computed) != node.outputs.end();
  };
  if (std::find_if(begin, graph.nodes.end(), writes) == graph.nodes.end()) {
    copy(graph, computed, output);
    return;
  }
  for (auto node = begin; node != graph.nodes.end(); ++node) {
    std::ranges::replace(node->inputs, computed, output);
    std::ranges::replace(node->outputs, computed, output);
  }
}

/// The new nodes, from `first` on, give `node`'s outputs, which they computed as `computed`.
void connect(Graph& graph, std::size_t first, const Node& node,
             const std::vector<TensorId>& computed) {
  std::map<TensorId, TensorId> taken;  // what was computed, and the output that it became
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    if (i >= computed.size() || computed[i] == kNoTensor) {
      throw InternalError(node.op + " '" + node.name + "' is composed without its output " +
                          std::to_string(i));
    }
    const auto [place, is_new] = taken.emplace(computed[i], node.outputs[i]);
    if (is_new) {
      take_over(graph, first, node.outputs[i], computed[i]);
    } else {
      copy(graph, place->second, node.outputs[i]);
    }
  }
}

/// The node that computes the first output keeps the name of the one that is written out.
void keep_name(Graph& graph, std::size_t first, const Node& node) {
  if (node.outputs.front() == kNoTensor) return;
  for (std::size_t n = first; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].outputs.front() == node.outputs.front()) graph.nodes[n].name = node.name;
  }
}

}  // namespace

int expand_composites(Graph& graph, const PassOptions& /*options*/) {
  int expanded = 0;
  std::vector<bool> gone;
  // What is written stands behind, and may be composed itself.
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node node = graph.nodes[n];
    const std::size_t first = graph.nodes.size();
    const std::vector<TensorId> computed = expand(graph, node);
    gone.push_back(!computed.empty());
    if (computed.empty()) continue;
    connect(graph, first, node, computed);
    keep_name(graph, first, node);
    ++expanded;
  }
  if (expanded == 0) return 0;
  std::vector<Node> kept;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (n >= gone.size() || !gone[n]) kept.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(kept);
  sort_topologically(graph);
  return expanded;
}

}  // namespace morton::passes
