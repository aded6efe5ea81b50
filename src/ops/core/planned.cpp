// SPDX-License-Identifier: Apache-2.0
#include "ops/core/planned.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/numbers/exact_integers.hpp"
#include "base/numbers/small_types.hpp"
#include "ops/core/bodies.hpp"

namespace morton::ops {
namespace {

/// A list of a real model's shape arithmetic is far shorter; beyond it, it is data.
constexpr std::int64_t kMostPlannedReals = 4096;
/// A model of a few bytes may ask for any amount.
constexpr std::int64_t kMostPlannedBytes = std::int64_t{256} << 20;

Tensor moved(const std::vector<Origin>& origins, const TensorType& type, const NodeView& node) {
  Tensor result = Tensor::allocate(type.dtype, type.shape);
  const auto bytes = static_cast<std::size_t>(size_of(type.dtype));
  for (std::size_t e = 0; e < origins.size(); ++e) {
    if (origins[e].input == Origin::kNowhere) continue;
    const Tensor& from = node.value(static_cast<std::size_t>(origins[e].input));
    std::memcpy(result.mutable_data() + e * bytes,
                from.data() + static_cast<std::size_t>(origins[e].index) * bytes, bytes);
  }
  return result;
}

/// Refuses whole numbers that a double need not hold exactly.
void require_exact(const ReferenceTensor& value, const NodeView& node) {
  for (const double number : value.value) {
    if (std::fabs(number) <= kExactIntegers) continue;
    node.unsupported("computes " + std::to_string(number) +
                     " when the model is planned; whole numbers beyond 2^53 are not");
  }
}

Tensor rounded(const ReferenceTensor& value, DType type) {
  Tensor result = Tensor::allocate(type, value.shape);
  for (std::size_t i = 0; i < value.value.size(); ++i) {
    result.set(static_cast<std::int64_t>(i), value.value[i]);
  }
  return result;
}

/// Whether the operator reads the values of input `i`.
bool reads_values(const Operator& op, std::size_t i) {
  return std::ranges::find(op.inputs.types_alone, i) == op.inputs.types_alone.end();
}

std::vector<Tensor> by_reference(const Graph& graph, const NodeView& node,
                                 const std::vector<TensorType>& types) {
  std::vector<ReferenceTensor> inputs;
  for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
    const TensorId id = node.node().inputs[i];
    if (id != kNoTensor && !reads_values(operator_of(node.node()), i)) {
      inputs.push_back({{}, {0.0}, {0.0}});
      continue;
    }
    inputs.push_back(id == kNoTensor ? ReferenceTensor{}
                                     : to_reference(*graph.tensor(id).planned()));
    if (id != kNoTensor && !is_real(graph.tensor(id).dtype)) require_exact(inputs.back(), node);
  }
  const auto values = references(graph, node.node(), inputs);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_real(types[i].dtype)) require_exact(values[i], node);
    results.push_back(rounded(values[i], types[i].dtype));
  }
  return results;
}

/// Small enough, or of a type that only shape arithmetic has much of.
bool is_planned_size(const std::vector<TensorType>& types) {
  return std::all_of(types.begin(), types.end(), [](const TensorType& type) {
    const bool is_data = is_real(type.dtype) || is_only_stored(type.dtype);
    return !is_data || element_count(type.shape) <= kMostPlannedReals;
  });
}

void require_moderate(const std::vector<TensorType>& types, const NodeView& node) {
  for (const TensorType& type : types) {
    const std::int64_t most = kMostPlannedBytes / size_of(type.dtype);
    if (element_count(type.shape) <= most) continue;
    node.unsupported("its value, " + std::string(name_of(type.dtype)) + " " +
                     to_string(type.shape) +
                     ", would be computed when the model is planned, and has more than " +
                     std::to_string(kMostPlannedBytes >> 20) + " MiB");
  }
}

bool all_known(const Graph& graph, const Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id == kNoTensor || !reads_values(operator_of(node), i)) continue;
    if (graph.tensor(id).planned() == nullptr) return false;
  }
  return true;
}

/// Marks, in `inside`, what planning needs of a body whose results are marked; a state that it
/// needs in one turn it needs of the turn before.
void mark_inside(const Body& body, const BodyWiring& wiring, Indexed<TensorId, bool>& inside) {
  const Graph& graph = *body.graph;
  for (bool is_done = false; !is_done;) {
    mark_planned(graph, 0, graph.nodes.size(), inside);
    is_done = true;
    for (std::size_t i = 0; i < wiring.states; ++i) {
      const TensorId result = graph.outputs[wiring.first_output + i];
      if (!inside[graph.inputs[wiring.first_state + i]] || inside[result]) continue;
      inside[result] = true;
      is_done = false;
    }
  }
}

/// Marks what planning needs of a node's inputs by what its bodies need.
void mark_by_bodies(const Graph& graph, const Node& node, Indexed<TensorId, bool>& planned) {
  if (!has_bodies(node.op) || node.bodies.empty()) return;
  if (NodeView(graph, node).opset() < operator_of(node).since_opset) return;
  BodyWiring wiring;
  try {
    wiring = wiring_of(graph, node);
  } catch (const ModelError&) {
    return;  // whoever looks at the node tells of it
  }
  for (const auto& [name, body] : node.bodies) {
    const std::span<const TensorId> captured = captured_by(node, name);
    Indexed<TensorId, bool> inside(body.graph->tensors.size(), false);
    // Ahead of the results stands the condition.
    for (std::size_t i = 0; i < body.graph->outputs.size(); ++i) {
      const std::size_t k = i - wiring.first_output;
      const bool is_needed =
          i < wiring.first_output ||
          (k < node.outputs.size() && node.outputs[k] != kNoTensor && planned[node.outputs[k]]);
      if (is_needed) inside[body.graph->outputs[i]] = true;
    }
    mark_inside(body, wiring, inside);
    for (std::size_t i = 0; i < body.graph->inputs.size(); ++i) {
      const TensorId id =
          i < body.formals() ? node.inputs[wiring.first_input + i] : captured[i - body.formals()];
      if (id != kNoTensor && inside[body.graph->inputs[i]]) planned[id] = true;
    }
  }
}

}  // namespace

std::vector<Tensor> planned_values(const Graph& graph, const Node& node) {
  const Operator& op = operator_of(node);
  const NodeView view(graph, node);
  if (!op.inputs.shapes_only && !all_known(graph, node)) return {};
  const std::vector<TensorType> types = infer(graph, node);
  const bool has_values = op.host.values != nullptr && !op.host.alias;
  if (!has_values && !is_planned_size(types)) return {};
  require_moderate(types, view);
  if (has_values) return op.host.values(view);
  std::vector<Tensor> results;
  if (op.host.alias && op.expand == nullptr && node.epilogue.is_identity()) {
    results.push_back(view.value(0).reshaped(types[0].shape));
  } else if (op.host.origins != nullptr && node.epilogue.is_identity()) {
    const auto origins = op.host.origins(view);
    for (std::size_t i = 0; i < origins.size(); ++i) {
      results.push_back(moved(origins[i], types[i], view));
    }
  } else {
    results = by_reference(graph, view, types);
  }
  return results;
}

void mark_planned(const Graph& graph, std::size_t first, std::size_t end,
                  Indexed<TensorId, bool>& planned) {
  while (planned.size() < graph.tensors.size()) planned.add(false);
  const auto mark = [&](TensorId id) {
    if (id != kNoTensor) planned[id] = true;
  };
  for (std::size_t n = end; n-- > first;) {
    const Node& node = graph.nodes[n];
    const Operator* op = find_operator(node.op);
    if (op == nullptr) continue;
    const bool computes = std::any_of(node.outputs.begin(), node.outputs.end(),
                                      [&](TensorId id) { return id != kNoTensor && planned[id]; });
    const bool follows = computes && !op->inputs.shapes_only && node.bodies.empty();
    for (std::size_t i = 0; follows && i < node.inputs.size(); ++i) {
      if (reads_values(*op, i)) mark(node.inputs[i]);
    }
    for (const std::size_t i : op->inputs.planned) {
      if (i < node.inputs.size()) mark(node.inputs[i]);
    }
    mark_by_bodies(graph, node, planned);
  }
}

Indexed<TensorId, bool> planned_tensors(const Graph& graph) {
  Indexed<TensorId, bool> planned(graph.tensors.size(), false);
  mark_planned(graph, 0, graph.nodes.size(), planned);
  return planned;
}

std::vector<TensorId> planned_graph_inputs(const Graph& graph) {
  const auto planned = planned_tensors(graph);
  std::vector<TensorId> inputs;
  for (const TensorId id : graph.inputs) {
    if (planned[id] && !is_data(graph.tensor(id))) inputs.push_back(id);
  }
  return inputs;
}

}  // namespace morton::ops
