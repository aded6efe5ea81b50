// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "passes/passes.hpp"

namespace morton::passes {
namespace {

std::string names_of_ports(const Graph& graph, const std::vector<TensorId>& ids) {
  std::string names;
  for (const TensorId id : ids) {
    names += (names.empty() ? "'" : ", '") + graph.tensor(id).name + "'";
  }
  return names;
}

/// The tensor of this name among `ids`, the model's `what`.
TensorId port_named(const Graph& graph, const std::vector<TensorId>& ids, const std::string& name,
                    const std::string& what) {
  for (const TensorId id : ids) {
    if (graph.tensor(id).name == name) return id;
  }
  throw UsageError(setting("feeds") + ": '" + name + "' is no " + what +
                   " of the model, which has " + names_of_ports(graph, ids));
}

std::string port_text(const GraphTensor& tensor) {
  return "'" + tensor.name + "' is " + std::string(name_of(tensor.dtype)) + " " +
         to_string(tensor.shape);
}

}  // namespace

int feed_states(Graph& graph, const PassOptions& options) {
  std::set<std::string> fed;
  const std::vector<TensorId> inputs = graph.inputs;
  for (const auto& [output, input] : options.feeds) {
    const TensorId value = port_named(graph, graph.outputs, output, "output");
    const TensorId id = port_named(graph, inputs, input, "input");
    if (!fed.insert(input).second) {
      throw UsageError(setting("feeds") + ": input '" + input + "' is fed twice");
    }
    if (std::ranges::find(graph.counts, value, &OutputCount::output) != graph.counts.end()) {
      throw UsageError(setting("feeds") + ": output '" + output +
                       "' has an extent that a run finds out, so it cannot be fed back");
    }
    GraphTensor& state = graph.tensor(id);
    const GraphTensor& given = graph.tensor(value);
    if (state.dtype != given.dtype || state.shape != given.shape) {
      throw UsageError(setting("feeds") + ": output " + port_text(given) + ", and input " +
                       port_text(state) + "; they must be alike");
    }
    if (given.kind != GraphTensor::Kind::activation) {
      throw UsageError(setting("feeds") + ": output '" + output + "' is computed by no node");
    }
    state.kind = GraphTensor::Kind::state;
    state.data = Tensor::allocate(state.dtype, state.shape);
    std::erase(graph.inputs, id);
    std::erase(graph.outputs, value);
    graph.updates.push_back({id, value});
  }
  return static_cast<int>(fed.size());
}

}  // namespace morton::passes
