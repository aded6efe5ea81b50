// SPDX-License-Identifier: Apache-2.0
#include "graph/part_of_graph.hpp"

#include <algorithm>

namespace morton::graph {

Graph part_of_graph(const Graph& whole, const std::vector<bool>& chosen,
                    const std::set<TensorId>& wanted) {
  Graph part;
  part.name = whole.name;
  part.opset = whole.opset;
  Indexed<TensorId, TensorId> own(whole.tensors.size(), kNoTensor);
  std::set<TensorId> computed;
  for (std::size_t n = 0; n < whole.nodes.size(); ++n) {
    if (chosen[n]) computed.insert(whole.nodes[n].outputs.begin(), whole.nodes[n].outputs.end());
  }
  const auto here = [&](TensorId id) {
    if (id == kNoTensor || own[id] != kNoTensor) return id == kNoTensor ? kNoTensor : own[id];
    GraphTensor tensor = whole.tensor(id);
    const bool is_given = tensor.kind == GraphTensor::Kind::activation && !computed.contains(id);
    if (is_given) {
      tensor.kind = GraphTensor::Kind::input;
      tensor.declared.clear();
    }
    const bool is_input = tensor.kind == GraphTensor::Kind::input;
    own[id] = part.add_tensor(std::move(tensor));
    if (is_input) part.inputs.push_back(own[id]);
    return own[id];
  };
  for (std::size_t n = 0; n < whole.nodes.size(); ++n) {
    if (!chosen[n]) continue;
    Node& node = part.nodes.emplace_back(whole.nodes[n]);
    std::ranges::transform(node.inputs, node.inputs.begin(), here);
    std::ranges::transform(node.outputs, node.outputs.begin(), here);
  }
  for (const TensorId id : wanted) {
    if (computed.contains(id)) part.outputs.push_back(own[id]);
  }
  return part;
}

}  // namespace morton::graph
