// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.hpp"

namespace morton {
namespace {

bool does_nothing(const Node& node) {
  return (node.op == "Identity" || node.op == "Dropout") && node.epilogue.is_identity() &&
         node.outputs.size() == 1 && node.outputs[0] != kNoTensor;
}

void replace(std::vector<TensorId>& ids, TensorId from, TensorId to) {
  std::replace(ids.begin(), ids.end(), from, to);
}

bool contains(const std::vector<TensorId>& ids, TensorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

int remove_identities(Graph& graph, const PassOptions& /*options*/) {
  int removed = 0;
  for (std::size_t n = 0; n < graph.nodes.size();) {
    const Node node = graph.nodes[n];
    const TensorId source = node.inputs.empty() ? kNoTensor : node.inputs[0];
    TensorId stays = source;
    TensorId goes = does_nothing(node) ? node.outputs[0] : kNoTensor;
    if (goes != kNoTensor && contains(graph.outputs, goes)) {
      // The graph's output keeps its name: the source's producer writes it in the source's place.
      std::swap(stays, goes);
      const bool computed = graph.tensor(goes).kind == GraphTensor::Kind::activation;
      if (!computed || contains(graph.outputs, goes)) goes = kNoTensor;
    }
    if (goes == kNoTensor) {
      ++n;
      continue;
    }
    graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(n));
    for (StateUpdate& update : graph.updates) {
      if (update.value == goes) update.value = stays;
    }
    for (Node& other : graph.nodes) {
      replace(other.inputs, goes, stays);
      replace(other.outputs, goes, stays);
    }
    ++removed;
  }
  return removed;
}

}  // namespace morton
