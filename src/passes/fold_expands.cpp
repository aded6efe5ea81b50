// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operators broadcast what they read, so that it need not be spread over a tensor
// before.
#include <algorithm>

#include "base/shape.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// Whether the node computes the same where it reads `narrow` in place of `wide`, to which it
/// broadcasts.
bool can_spread(const Graph& graph, const Node& node, TensorId wide, TensorId narrow) {
  if (operator_of(node).chain == nullptr || node.outputs.size() != 1) return false;
  if (node.outputs[0] == kNoTensor) return false;
  // The inputs behind the first of a Chain broadcast to its shape. Behind other operators an
  // epilogue has its own.
  if (node.op == "Chain") return node.inputs[0] != wide;
  if (!node.epilogue.is_identity()) return false;
  Shape spread;
  for (const TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    spread = broadcast(spread, graph.tensor(id == wide ? narrow : id).shape, node.name);
  }
  return spread == graph.tensor(node.outputs[0]).shape;
}

/// How many nodes read `narrow` in place of `wide` from now on.
int spread_in_readers(Graph& graph, TensorId wide, TensorId narrow) {
  int count = 0;
  for (NodeId n(0); has_node(graph, n); n = n.moved(1)) {
    Node& node = graph.node(n);
    if (std::ranges::count(node.inputs, wide) == 0) continue;
    if (!can_spread(graph, node, wide, narrow)) continue;
    std::ranges::replace(node.inputs, wide, narrow);
    ++count;
  }
  return count;
}

}  // namespace

int fold_expands(Graph& graph, const PassOptions& /*options*/) {
  int folded = 0;
  for (NodeId n(0); has_node(graph, n);) {
    const Node& node = graph.node(n);
    const bool is_expand = node.op == "Expand" && node.epilogue.is_identity();
    const TensorId narrow = is_expand ? node.inputs[0] : kNoTensor;
    const TensorId wide = is_expand ? node.outputs[0] : kNoTensor;
    const int count = is_expand ? spread_in_readers(graph, wide, narrow) : 0;
    folded += count;
    if (count > 0 && graph.consumers(wide).empty() && !graph.is_result(wide)) {
      remove_node(graph, n);
    } else {
      n = n.moved(1);
    }
  }
  return folded;
}

}  // namespace morton::passes
