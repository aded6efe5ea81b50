// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

using Order = std::vector<std::int64_t>;

/// Dimension d of a Transpose's result is dimension order[d] of its input; nothing for other nodes.
std::optional<Order> order_of(const Graph& graph, const Node& node) {
  if (node.op != "Transpose" || !node.epilogue.is_identity()) return {};
  Order reversed(graph.tensor(node.inputs[0]).shape.size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return integers_of(node, "perm", reversed);
}

std::optional<Order> order_of_producer(const Graph& graph, TensorId id) {
  const NodeId producer = graph.producer(id);
  if (!producer) return {};
  return order_of(graph, graph.node(producer));
}

/// What the node that computes `id` reads first.
TensorId source_of_producer(const Graph& graph, TensorId id) {
  return graph.node(graph.producer(id)).inputs[0];
}

/// A Transpose of a Transpose is one Transpose of the first one's input.
bool join_pair(Graph& graph, Node& node) {
  const auto second = order_of(graph, node);
  if (!second) return false;
  const auto first = order_of_producer(graph, node.inputs[0]);
  if (!first) return false;
  Order joined;
  for (const std::int64_t d : *second) joined.push_back((*first)[static_cast<std::size_t>(d)]);
  node.inputs[0] = source_of_producer(graph, node.inputs[0]);
  node.attributes["perm"] = joined;
  return true;
}

/// A constant operand with its dimensions before `order`: what broadcasts against the input of a
/// Transpose as `data` does against its result.
Tensor untransposed(const Tensor& data, const Order& order) {
  Shape whole(order.size(), 1);
  std::copy(data.shape().rbegin(), data.shape().rend(), whole.rbegin());
  Shape before(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    before[static_cast<std::size_t>(order[d])] = whole[d];
  }
  const Shape strides = row_major_strides(whole);
  Tensor result = Tensor::allocate(data.dtype(), before);
  const auto bytes = static_cast<std::size_t>(size_of(data.dtype()));
  std::vector<std::int64_t> position(order.size(), 0);
  for (std::int64_t i = 0; i < data.size(); ++i) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < order.size(); ++d) {
      from += position[static_cast<std::size_t>(order[d])] * strides[d];
    }
    std::copy_n(data.data() + static_cast<std::size_t>(from) * bytes, bytes,
                result.mutable_data() + static_cast<std::size_t>(i) * bytes);
    for (std::size_t d = order.size(); d > 0 && ++position[d - 1] == before[d - 1]; --d) {
      position[d - 1] = 0;
    }
  }
  return result;
}

/// The order that all operands of an elementwise node have been brought into; nothing where some
/// operand is neither a constant nor such.
std::optional<Order> common_order(const Graph& graph, const Node& node) {
  const Operator* op = find_operator(node.op);
  if (op == nullptr || op->chain == nullptr || node.outputs.size() != 1) return {};
  if (!node.epilogue.is_identity()) return {};
  const std::size_t rank = graph.tensor(node.outputs[0]).shape.size();
  std::optional<Order> common;
  for (const TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    if (const Tensor* data = constant_data(graph, id)) {
      if (data->shape().size() > rank) return {};
      continue;
    }
    const auto order = order_of_producer(graph, id);
    if (!order || order->size() != rank || (common && *common != *order)) return {};
    common = order;
  }
  return common;
}

/// f(transpose(x), ...) becomes transpose(f(x, ...)).
bool sink(Graph& graph, NodeId n) {
  const auto order = common_order(graph, graph.node(n));
  if (!order) return false;
  Node node = graph.node(n);
  for (TensorId& id : node.inputs) {
    if (id == kNoTensor) continue;
    if (const Tensor* data = constant_data(graph, id)) {
      // A scalar may be an attribute in disguise (Clip's bounds): it stays what it is.
      if (data->size() == 1) continue;
      Tensor turned = untransposed(*data, *order);
      id = add_constant(graph, graph.tensor(id).name + ".untransposed", std::move(turned));
    } else {
      id = source_of_producer(graph, id);
    }
  }
  const TensorId result = node.outputs[0];
  const GraphTensor& old = graph.tensor(result);
  Shape before(order->size());
  for (std::size_t d = 0; d < order->size(); ++d) {
    before[static_cast<std::size_t>((*order)[d])] = old.shape[d];
  }
  const TensorId inner = add_activation(graph, old.name + ".untransposed", old.dtype, before);
  node.outputs = {inner};
  Node transpose{.op = "Transpose",
                 .name = unused_node_name(graph, node.name + ".transpose"),
                 .inputs = {inner},
                 .outputs = {result}};
  transpose.attributes["perm"] = *order;
  graph.node(n) = std::move(node);
  insert_behind(graph, n, std::move(transpose));
  return true;
}

/// Transposes that a result depends on and that move anything.
int count_transposes(Graph graph) {
  remove_identities(graph, {});
  remove_dead_code(graph, {});
  return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                        [](const Node& node) { return node.op == "Transpose"; }));
}

}  // namespace

int eliminate_transposes(Graph& graph, const PassOptions& /*options*/) {
  const int before = count_transposes(graph);
  if (before == 0) return 0;
  Graph changed = graph;
  // A Transpose sinks through elementwise nodes as far as it can; where it meets its inverse both
  // go.
  for (NodeId n(0); has_node(changed, n); n = n.moved(1)) {
    if (!join_pair(changed, changed.node(n))) sink(changed, n);
  }
  remove_identities(changed, {});
  remove_dead_code(changed, {});
  const int after = count_transposes(changed);
  if (after >= before) return 0;
  graph = std::move(changed);
  return before - after;
}

}  // namespace morton::passes
