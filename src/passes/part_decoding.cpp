// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

bool is_elementwise(const Graph& graph, NodeId n) {
  return operator_of(graph.node(n)).chain != nullptr && graph.node(n).outputs.size() == 1;
}

}  // namespace

int part_decoding(Graph& graph, const PassOptions& /*options*/) {
  const std::size_t count = graph.nodes.size();
  int parted = 0;
  for (std::size_t n = 0; n < count; ++n) {
    if (!decodes_bytes(graph, graph.nodes[n])) continue;
    const TensorId value = graph.nodes[n].outputs[0];
    std::vector<NodeId> readers = graph.consumers(value);
    const std::size_t all = readers.size();
    std::erase_if(readers, [&](NodeId reader) { return !is_elementwise(graph, reader); });
    // One reader can keep the node that there is.
    const bool others = graph.is_result(value) || readers.size() < all;
    for (std::size_t r = others ? 0 : 1; r < readers.size(); ++r) {
      Node node = graph.nodes[n];
      const GraphTensor made = graph.tensor(value);
      node.name = unused_node_name(graph, node.name);
      node.copy = ++parted;
      node.outputs = {add_activation(graph, made.name, made.dtype, made.shape)};
      std::ranges::replace(graph.node(readers[r]).inputs, value, node.outputs[0]);
      graph.nodes.push_back(std::move(node));
    }
  }
  if (parted > 0) sort_topologically(graph);
  return parted;
}

}  // namespace morton::passes
