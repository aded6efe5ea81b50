// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "base/stopwatch.hpp"
#include "formats/load_limits.hpp"
#include "ops/core/planned.hpp"
#include "passes/passes.hpp"
#include "passes/shapes/control_flow.hpp"
#include "passes/shapes/late_extents.hpp"

namespace morton::passes {
namespace {

/// Gives the inputs that planning needs the values of the options.
void take_values(Graph& graph, const PassOptions& options) {
  for (const auto& [name, value] : options.values) {
    const TensorId id = graph.find(name);
    if (id == kNoTensor || graph.tensor(id).kind != GraphTensor::Kind::input) {
      throw UsageError("a value is given for '" + name + "', which is no input of the model");
    }
  }
  for (const TensorId id : planned_graph_inputs(graph)) {
    GraphTensor& tensor = graph.tensor(id);
    const auto given = options.values.find(tensor.name);
    if (given == options.values.end()) continue;
    if (given->second.shape() != tensor.shape || given->second.dtype() != tensor.dtype) {
      throw UsageError("the value given for input '" + tensor.name + "' is " +
                       std::string(name_of(given->second.dtype())) + " " +
                       to_string(given->second.shape()) + ", expected " +
                       std::string(name_of(tensor.dtype)) + " " + to_string(tensor.shape));
    }
    tensor.data = given->second;
  }
}

bool needs_value(const Graph& graph, const Node& node, const Indexed<TensorId, bool>& planned) {
  const Operator& op = operator_of(node);
  if (op.host.values != nullptr && !op.host.alias) return true;
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](TensorId id) {
    return id != kNoTensor && planned[id] && !graph.is_update(id);
  });
}

void make_constant(Graph& graph, TensorId id, Tensor value) {
  if (id == kNoTensor) return;
  GraphTensor& tensor = graph.tensor(id);
  tensor.kind = GraphTensor::Kind::constant;
  tensor.data = std::move(value);
}

/// Outputs without elements are known, whatever computes them.
bool is_empty(const Graph& graph, const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](TensorId id) {
    return id == kNoTensor || element_count(graph.tensor(id).shape) == 0;
  });
}

/// The values that are known of the node's outputs, as far as planning needs them; none or all.
std::vector<Tensor> values_for(const Graph& graph, const Node& node,
                               const Indexed<TensorId, bool>& planned) {
  if (!is_empty(graph, node)) {
    return needs_value(graph, node, planned) ? planned_values(graph, node) : std::vector<Tensor>{};
  }
  std::vector<Tensor> values;
  for (const TensorId id : node.outputs) {
    const bool absent = id == kNoTensor;
    values.push_back(absent ? Tensor()
                            : Tensor::allocate(graph.tensor(id).dtype, graph.tensor(id).shape));
  }
  return values;
}

/// Makes the node's outputs constants, where their values are known and planning needs them.
/// Whether nothing is left to compute.
bool plan_values(Graph& graph, Node& node, const Indexed<TensorId, bool>& planned) {
  const Operator& op = operator_of(node);
  std::vector<Tensor> values = values_for(graph, node, planned);
  if (!values.empty()) {
    for (std::size_t i = 0; i < values.size() && i < node.outputs.size(); ++i) {
      make_constant(graph, node.outputs[i], std::move(values[i]));
    }
    return true;
  }
  if (op.host.alias && op.host.values != nullptr && node.outputs.size() > 1) {
    values = op.host.values(NodeView(graph, node));
    if (values.empty()) return false;  // it is no alias here, but composed of others
    for (std::size_t i = 0; i < values.size() && i + 1 < node.outputs.size(); ++i) {
      make_constant(graph, node.outputs[i + 1], std::move(values[i]));
    }
    node.outputs.resize(1);
  }
  return false;
}

/// Which of the graph's own nodes those stand for that are written in their places.
class Origins {
 public:
  explicit Origins(const Graph& graph) : places_(graph.nodes.size()) {
    for (std::size_t n = 0; n < places_.size(); ++n) places_[n] = n;
    for (const Node& node : graph.nodes) names_.push_back(node.name);
  }
  /// `count` nodes took the place of node `n`.
  void put_in_place_of(std::size_t n, std::size_t count) {
    const auto place = places_.begin() + static_cast<std::ptrdiff_t>(n);
    const std::size_t origin = *place;
    if (count == 0) {
      places_.erase(place);
    } else {
      places_.insert(place, count - 1, origin);
    }
  }
  /// The name; of a node behind all others, which makes outputs, none.
  [[nodiscard]] std::string of(std::size_t n) const {
    return n < places_.size() ? names_[places_[n]] : "";
  }

 private:
  std::vector<std::size_t> places_;
  std::vector<std::string> names_;
};

}  // namespace

int infer_shapes(Graph& graph, const PassOptions& options) {
  take_values(graph, options);
  std::vector<Growing> growing = growing_inputs(graph, options);
  auto planned = planned_tensors(graph);
  Splicing out(graph);
  LateExtents late(graph, out, std::move(growing));
  ControlFlow flow(out, late.table());
  int inferred = 0;
  // Operators see the nodes before theirs, so all stay in place until the end.
  std::vector<bool> is_known;
  const auto has_outputs_to_write = [&] {
    const std::size_t made = flow.write_outputs();
    mark_planned(graph, graph.nodes.size() - made, graph.nodes.size(), planned);
    return made > 0;
  };
  Origins origins(graph);
  const Stopwatch watch;
  const auto infer_next = [&] {
    require_seconds(options.limits, watch.seconds(), "the shapes of values");
    const std::size_t n = is_known.size();
    std::ptrdiff_t made = late.write_out(n);
    if (made < 0) made = flow.write_out(n);
    if (made >= 0) {
      const auto count = static_cast<std::size_t>(made);
      origins.put_in_place_of(n, count);
      mark_planned(graph, n, n + count, planned);
      return;
    }
    Node& node = graph.nodes[n];
    std::vector<TensorType> types;
    try {
      types = infer(graph, node);
    } catch (const ModelError& error) {
      late.require_misfit(n, error);
      throw;
    }
    for (std::size_t i = 0; i < types.size() && i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoTensor) continue;
      GraphTensor& tensor = graph.tensor(node.outputs[i]);
      tensor.dtype = types[i].dtype;
      tensor.shape = types[i].shape;
      ++inferred;
    }
    late.pass_on(n);
    is_known.push_back(plan_values(graph, node, planned));
  };
  while (is_known.size() < graph.nodes.size() || has_outputs_to_write()) {
    try {
      infer_next();
    } catch (NeedsSegments& error) {
      error.set_waiting_node(origins.of(is_known.size()));
      throw;
    }
  }
  late.count_outputs();
  std::vector<Node> kept;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!is_known[n]) kept.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(kept);
  return inferred;
}

}  // namespace morton::passes
