// SPDX-License-Identifier: Apache-2.0
#include "ops/operator.hpp"
#include "passes/passes.hpp"

namespace morton {

int infer_shapes(Graph& graph, const PassOptions& /*options*/) {
  int inferred = 0;
  for (const Node& node : graph.nodes) {
    const auto types = infer(graph, node);
    for (std::size_t i = 0; i < types.size() && i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoTensor) continue;
      GraphTensor& tensor = graph.tensor(node.outputs[i]);
      tensor.dtype = types[i].dtype;
      tensor.shape = types[i].shape;
      ++inferred;
    }
  }
  return inferred;
}

}  // namespace morton
