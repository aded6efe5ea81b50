// SPDX-License-Identifier: Apache-2.0
#include "graph/parameter_bytes.hpp"

namespace morton::graph {

std::int64_t parameter_bytes(const Graph& graph) {
  std::int64_t bytes = 0;
  for (const GraphTensor& tensor : graph.tensors) {
    const bool holds_data =
        tensor.kind == GraphTensor::Kind::constant || tensor.kind == GraphTensor::Kind::state;
    if (holds_data) bytes += static_cast<std::int64_t>(tensor.data.bytes());
  }
  for (const Node& node : graph.nodes) {
    for (const auto& [name, body] : node.bodies) bytes += parameter_bytes(*body.graph);
  }
  return bytes;
}

}  // namespace morton::graph
