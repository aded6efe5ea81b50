// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "passes/conversion/conversion.hpp"
#include "passes/passes.hpp"

namespace morton::passes {

void drop_unused(Graph& graph) {
  std::set<TensorId> needed(graph.outputs.begin(), graph.outputs.end());
  const std::size_t outputs = graph.outputs.size();
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    bool lives = false;
    for (const TensorId id : node->outputs) lives = lives || needed.contains(id);
    if (!lives) continue;
    needed.insert(node->inputs.begin(), node->inputs.end());
    for (const TensorId id : node->outputs) {
      if (id != kNoTensor) graph.outputs.push_back(id);
    }
  }
  remove_dead_code(graph, {});
  graph.outputs.resize(outputs);
}

}  // namespace morton::passes
