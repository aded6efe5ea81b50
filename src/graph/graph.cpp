// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace morton::graph {
namespace {

template <typename Tensors>
auto& checked_at(Tensors& tensors, TensorId id) {
  if (!tensors.contains(id)) {
    throw InternalError("graph: tensor " + std::to_string(id.index()) + " of " +
                        std::to_string(tensors.size()));
  }
  return tensors[id];
}

}  // namespace

GraphTensor constant_tensor(std::string name, Tensor data) {
  GraphTensor tensor;
  tensor.name = std::move(name);
  tensor.kind = GraphTensor::Kind::constant;
  tensor.dtype = data.dtype();
  tensor.shape = data.shape();
  tensor.data = std::move(data);
  return tensor;
}

std::size_t Body::formals() const { return graph->inputs.size() - captured; }

TensorId Graph::add_tensor(GraphTensor tensor) { return tensors.add(std::move(tensor)); }

const GraphTensor& Graph::tensor(TensorId id) const { return checked_at(tensors, id); }

GraphTensor& Graph::tensor(TensorId id) { return checked_at(tensors, id); }

TensorId Graph::find(std::string_view tensor_name) const {
  for (const TensorId id : tensors.ids()) {
    if (tensors[id].name == tensor_name) return id;
  }
  return kNoTensor;
}

bool Graph::is_result(TensorId id) const {
  return is_update(id) || std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

bool Graph::is_update(TensorId id) const {
  return std::any_of(updates.begin(), updates.end(),
                     [&](const StateUpdate& update) { return update.value == id; });
}

NodeId Graph::producer(TensorId id) const {
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto& made = nodes[n].outputs;
    if (std::find(made.begin(), made.end(), id) != made.end()) return NodeId(n);
  }
  return {};
}

std::vector<NodeId> Graph::consumers(TensorId id) const {
  std::vector<NodeId> readers;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto& read = nodes[n].inputs;
    if (std::find(read.begin(), read.end(), id) != read.end()) {
      readers.emplace_back(n);
    }
  }
  return readers;
}

}  // namespace morton::graph
