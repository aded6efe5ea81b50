// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace morton::graph {
namespace {

template <typename Tensors>
auto& checked_at(Tensors& tensors, TensorId id) {
  if (id < 0 || static_cast<std::size_t>(id) >= tensors.size()) {
    throw InternalError("graph: tensor " + std::to_string(id) + " of " +
                        std::to_string(tensors.size()));
  }
  return tensors[static_cast<std::size_t>(id)];
}

}  // namespace

TensorId Graph::add_tensor(GraphTensor tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors.size()) - 1;
}

const GraphTensor& Graph::tensor(TensorId id) const { return checked_at(tensors, id); }

GraphTensor& Graph::tensor(TensorId id) { return checked_at(tensors, id); }

TensorId Graph::find(std::string_view tensor_name) const {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == tensor_name) return static_cast<TensorId>(i);
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

int Graph::producer(TensorId id) const {
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto& made = nodes[n].outputs;
    if (std::find(made.begin(), made.end(), id) != made.end()) return static_cast<int>(n);
  }
  return -1;
}

std::vector<int> Graph::consumers(TensorId id) const {
  std::vector<int> readers;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto& read = nodes[n].inputs;
    if (std::find(read.begin(), read.end(), id) != read.end()) {
      readers.push_back(static_cast<int>(n));
    }
  }
  return readers;
}

}  // namespace morton::graph
