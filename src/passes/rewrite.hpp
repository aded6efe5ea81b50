// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "passes/passes.hpp"

namespace morton::passes {

/// `name`, or where a tensor (a node) has it already `name` with a number behind it.
[[nodiscard]] std::string unused_tensor_name(const Graph& graph, const std::string& name);
[[nodiscard]] std::string unused_node_name(const Graph& graph, const std::string& name);
/// A constant of its own, named `name` as far as that is free.
TensorId add_constant(Graph& graph, const std::string& name, Tensor data);
/// A computed tensor likewise.
TensorId add_activation(Graph& graph, const std::string& name, DType dtype, const Shape& shape);

/// The data of a constant, or nullptr for any other tensor and for kNoTensor.
[[nodiscard]] const Tensor* constant_data(const Graph& graph, TensorId id);
/// The constant's elements as integers. Empty for anything that is no constant of integers.
[[nodiscard]] std::vector<std::int64_t> constant_integers(const Graph& graph, TensorId id);
/// Whether there is a node `n`: false for none, and behind the last one.
[[nodiscard]] bool has_node(const Graph& graph, NodeId n);
/// The only node that reads `id`, once, where nothing else needs it; none otherwise.
[[nodiscard]] NodeId sole_reader(const Graph& graph, TensorId id);
/// Takes node `n` out of the graph; what it computes has no producer then.
void remove_node(Graph& graph, NodeId n);
/// Puts `node` behind node `n`.
void insert_behind(Graph& graph, NodeId n, Node node);
/// Every node that reads `from` reads `to` instead, and states take that.
void redirect_readers(Graph& graph, TensorId from, TensorId to);
/// Takes `id`, the only output of node `n`, out of the graph: its readers read `source`, which the
/// node reads. Where `id` is a result of the graph, the node that computes `source` writes `id`
/// instead. False where neither can be.
bool bypass(Graph& graph, NodeId n, TensorId source);

/// `result` is written by the node that computes `computed`, of the same type and shape. What wrote
/// it writes a tensor that nobody reads.
void replace_result(Graph& graph, TensorId result, TensorId computed);

/// Rewrites each node that `find(node)` finds something of, by `write(id, found)`, which writes
/// behind the last node; what is not needed then goes. Gives how many there were.
template <typename Find, typename Write>
int rewrite_found(Graph& graph, const PassOptions& options, Find find, Write write) {
  int changed = 0;
  const std::size_t count = graph.nodes.size();
  for (std::size_t n = 0; n < count; ++n) {
    auto found = find(graph.nodes[n]);
    if (!found) continue;
    write(NodeId(static_cast<int>(n)), std::move(*found));
    ++changed;
  }
  if (changed == 0) return 0;
  sort_topologically(graph);
  remove_dead_code(graph, options);  // weights that nobody reads need not become f32
  return changed;
}

/// u8 or i8.
[[nodiscard]] bool is_byte(DType type);
/// Whether an elementwise node makes f32 of bytes of the same shape, with constants besides.
[[nodiscard]] bool decodes_bytes(const Graph& graph, const Node& node);

/// An attribute of integers; `otherwise` where the node has none of the name.
[[nodiscard]] std::vector<std::int64_t> integers_of(const Node& node, const std::string& name,
                                                    std::vector<std::int64_t> otherwise);
[[nodiscard]] std::int64_t integer_of(const Node& node, const std::string& name,
                                      std::int64_t otherwise);
[[nodiscard]] double real_of(const Node& node, const std::string& name, double otherwise);
[[nodiscard]] std::string text_of(const Node& node, const std::string& name,
                                  const std::string& otherwise);

}  // namespace morton::passes
