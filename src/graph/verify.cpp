// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::graph {
namespace {

/// One walk over the graph in order; `made_` are the tensors that hold a value so far.
class Verifier {
 public:
  Verifier(const Graph& graph, const std::string& stage) : graph_(graph), stage_(stage) {}

  void run() {
    check_tensors();
    for (const TensorId id : graph_.inputs) {
      check_id(id, "the inputs of the graph");
      if (graph_.tensor(id).kind != GraphTensor::Kind::input) {
        fail("'" + graph_.tensor(id).name + "' is listed as an input and is of another kind");
      }
    }
    std::set<std::string> names;
    for (const Node& node : graph_.nodes) {
      if (!names.insert(node.name).second) fail("two nodes are named '" + node.name + "'");
      check_blaming(node);
    }
    for (const TensorId id : graph_.outputs) {
      check_id(id, "the outputs of the graph");
      if (!made_.contains(id)) fail("no node computes the output '" + graph_.tensor(id).name + "'");
    }
    check_updates();
    check_counts();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ModelError(stage_ + ": graph '" + graph_.name + "': " + what);
  }

  void check_id(TensorId id, const std::string& where) const {
    if (!graph_.tensors.contains(id)) {
      fail(where + " name tensor " + std::to_string(id.index()) + " of " +
           std::to_string(graph_.tensors.size()));
    }
  }

  void check_counts() const {
    const auto is_output = [&](TensorId id) {
      return std::ranges::find(graph_.outputs, id) != graph_.outputs.end();
    };
    for (const OutputCount& late : graph_.counts) {
      check_id(late.output, "the late outputs");
      check_id(late.count, "the counts of late outputs");
      if (!is_output(late.output) || !is_output(late.count)) {
        fail("'" + graph_.tensor(late.output).name + "' has a late extent, and it or '" +
             graph_.tensor(late.count).name + "', which counts that, is no output");
      }
    }
  }

  void check_updates() const {
    std::set<TensorId> updated;
    for (const StateUpdate& update : graph_.updates) {
      check_id(update.state, "the updated states");
      check_id(update.value, "the values that states take");
      const std::string& name = graph_.tensor(update.state).name;
      if (graph_.tensor(update.state).kind != GraphTensor::Kind::state) {
        fail("'" + name + "' is updated, but is no state");
      }
      if (!updated.insert(update.state).second) fail("state '" + name + "' is updated twice");
      if (!made_.contains(update.value)) {
        fail("no node computes what state '" + name + "' takes");
      }
      if (graph_.tensor(update.value).kind == GraphTensor::Kind::state) {
        fail("state '" + name + "' takes the value of another state");
      }
    }
    for (const TensorId id : graph_.outputs) {
      if (updated.contains(id)) {
        fail("'" + graph_.tensor(id).name + "' is an output and a state that is updated");
      }
    }
  }

  void check_tensors() {
    std::set<std::string> names;
    for (const TensorId id : graph_.tensors.ids()) {
      const GraphTensor& tensor = graph_.tensors[id];
      if (!names.insert(tensor.name).second) fail("two tensors are named '" + tensor.name + "'");
      const bool stored =
          tensor.kind == GraphTensor::Kind::constant || tensor.kind == GraphTensor::Kind::state;
      if (stored && (tensor.data.shape() != tensor.shape || tensor.data.dtype() != tensor.dtype)) {
        fail("'" + tensor.name + "' is " + std::string(name_of(tensor.dtype)) + " " +
             to_string(tensor.shape) + ", its data " + std::string(name_of(tensor.data.dtype())) +
             " " + to_string(tensor.data.shape()));
      }
      if (tensor.kind != GraphTensor::Kind::activation) made_.insert(id);
    }
  }

  /// As check_node, whose errors are put down to the node.
  void check_blaming(const Node& node) {
    try {
      check_node(node);
    } catch (ModelError& error) {
      error.put_down_to(node.name);
      throw;
    }
  }

  void check_node(const Node& node) {
    const std::string where = node.op + " '" + node.name + "'";
    if (node.epilogue.input_count < 1 ||
        static_cast<std::size_t>(node.epilogue.input_count) - 1 > node.inputs.size()) {
      fail(where + ": its epilogue reads " + std::to_string(node.epilogue.input_count) +
           " values, the node has " + std::to_string(node.inputs.size()) + " inputs");
    }
    check_epilogue(node, where);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (id == kNoTensor && i < node.operand_count()) continue;
      check_id(id, "the inputs of " + where);
      if (!made_.contains(id)) {
        fail(where + " reads '" + graph_.tensor(id).name + "', which no earlier node computes");
      }
    }
    if (node.outputs.empty()) fail(where + " has no outputs");
    for (const TensorId id : node.outputs) {
      if (id == kNoTensor) continue;
      check_id(id, "the outputs of " + where);
      const GraphTensor& tensor = graph_.tensor(id);
      if (tensor.kind != GraphTensor::Kind::activation) {
        fail(where + " writes '" + tensor.name + "', which is given, not computed");
      }
      if (!made_.insert(id).second) fail("two nodes compute '" + tensor.name + "'");
    }
  }

  void check_epilogue(const Node& node, const std::string& where) const {
    const auto check = [&](const ScalarRef& ref, int steps) {
      if (ref.kind == ScalarRef::Kind::constant) return;
      const int limit = ref.kind == ScalarRef::Kind::input ? node.epilogue.input_count : steps;
      if (ref.index < 0 || ref.index >= limit) {
        fail(where + ": its epilogue refers to value " + std::to_string(ref.index) + " of " +
             std::to_string(limit));
      }
    };
    int steps = 0;
    for (const ScalarStep& step : node.epilogue.steps) {
      for (const ScalarRef& ref : step.arguments) check(ref, steps);
      ++steps;
    }
    check(node.epilogue.result, steps);
  }

  const Graph& graph_;
  const std::string& stage_;
  std::set<TensorId> made_;
};

/// Which node computes each tensor, or none.
using Producers = Indexed<TensorId, NodeId>;

Producers producers_of(const Graph& graph) {
  Producers producers(graph.tensors.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const TensorId id : graph.nodes[n].outputs) {
      if (id != kNoTensor) producers[id] = NodeId(n);
    }
  }
  return producers;
}

/// The nodes of one cycle among those not `placed`: from any of them, going to an unplaced producer
/// must come back.
std::string describe_cycle(const Graph& graph, const Producers& producers,
                           const Indexed<NodeId, bool>& placed) {
  const auto unplaced_producer = [&](NodeId reader) {
    for (const TensorId id : graph.node(reader).inputs) {
      const NodeId from = id == kNoTensor ? NodeId() : producers[id];
      if (from && !placed[from]) return from;
    }
    throw InternalError("graph: a node waits for nothing");
  };
  std::vector<NodeId> path;
  NodeId at(std::find(placed.begin(), placed.end(), false) - placed.begin());
  while (std::find(path.begin(), path.end(), at) == path.end()) {
    path.push_back(at);
    at = unplaced_producer(at);
  }
  // The walk went against the arrows; reversed, each node feeds the next.
  std::string text = "'" + graph.node(at).name + "'";
  for (auto n = path.rbegin(); *n != at; ++n) text += " -> '" + graph.node(*n).name + "'";
  return text + " -> '" + graph.node(at).name + "'";
}

}  // namespace

void verify(const Graph& graph, const std::string& stage) { Verifier(graph, stage).run(); }

void sort_topologically(Graph& graph) {
  const Producers producers = producers_of(graph);
  const std::size_t count = graph.nodes.size();
  Indexed<NodeId, std::set<NodeId>> readers(count);
  Indexed<NodeId, std::size_t> waits_for(count, 0);
  for (const NodeId n : readers.ids()) {
    std::set<NodeId> sources;
    for (const TensorId id : graph.node(n).inputs) {
      if (id != kNoTensor) sources.insert(producers[id]);
    }
    sources.erase(NodeId());
    for (const NodeId from : sources) readers[from].insert(n);
    waits_for[n] = sources.size();
  }
  // The ready node that stands first goes first, so a sorted graph stays as it is.
  std::set<NodeId> ready;
  for (const NodeId n : waits_for.ids()) {
    if (waits_for[n] == 0) ready.insert(n);
  }
  std::vector<Node> sorted;
  Indexed<NodeId, bool> placed(count, false);
  while (!ready.empty()) {
    const NodeId n = *ready.begin();
    ready.erase(ready.begin());
    placed[n] = true;
    sorted.push_back(graph.node(n));
    for (const NodeId reader : readers[n]) {
      if (--waits_for[reader] == 0) ready.insert(reader);
    }
  }
  if (sorted.size() < count) {
    throw ModelError("graph '" + graph.name +
                     "': its nodes form a cycle: " + describe_cycle(graph, producers, placed));
  }
  graph.nodes = std::move(sorted);
}

}  // namespace morton::graph
