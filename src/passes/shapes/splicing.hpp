// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"

namespace morton::passes {

/// Collects the nodes that are to stand in one node's place. Their types are inferred later, where
/// they stand.
class Splicing {
 public:
  explicit Splicing(Graph& graph) : graph_(graph) {}

  [[nodiscard]] Graph& graph() const { return graph_; }
  /// Whether a tensor has this name. Nodes must have begun.
  [[nodiscard]] bool has_tensor(const std::string& name) const {
    return tensor_names_.contains(name);
  }
  /// Begins the nodes that stand for `node`, whose name theirs begin with.
  void begin(const Node& node);
  /// What was collected takes the place of node `n`. How many nodes that is.
  std::size_t put_in_place_of(std::size_t n);
  /// What was collected stands behind all nodes. How many nodes that is.
  std::size_t put_last();

  using Attributes = std::map<std::string, Attribute>;
  /// A node of the newest operator set; its output.
  TensorId add(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {});
  std::vector<TensorId> add_several(std::string_view op, std::vector<TensorId> inputs,
                                    std::size_t outputs, Attributes attributes = {});
  /// The same operation with a name and outputs of its own, of the newest operator set; its
  /// outputs.
  std::vector<TensorId> add_like(const Node& node);
  /// A node as it is.
  void add(Node node);
  /// A node as it is, but for its first inputs.
  void again(Node node, const std::vector<TensorId>& first);
  TensorId constant(Tensor value);
  /// A constant list of whole numbers, and one of them alone.
  TensorId list(const std::vector<std::int64_t>& values);
  TensorId number(std::int64_t value);
  TensorId truth(bool value);
  /// `to` becomes what `from` is.
  void copy(TensorId from, TensorId to);
  /// A tensor of this name, which is free, that becomes what `from` is.
  TensorId named_copy(TensorId from, const std::string& name);
  /// Tensors side by side along a dimension, and along a new one.
  TensorId joined(const std::vector<TensorId>& parts, std::int64_t axis);
  TensorId stacked(std::vector<TensorId> parts, std::int64_t axis);
  /// The nodes of a body, whose inputs are these; its outputs. `turn` tells the copies apart. The
  /// body's constants are there once, whatever the number of copies.
  std::vector<TensorId> body(const Body& body, std::span<const TensorId> inputs,
                             const std::string& turn);

 private:
  /// Throws UnsupportedError where so many nodes more are too many.
  void require_room(std::size_t nodes) const;
  /// A node of the newest operator set, without outputs, that was collected.
  Node& new_node(std::string_view op, std::vector<TensorId> inputs);
  TensorId new_tensor(GraphTensor tensor, const std::string& wish);
  [[nodiscard]] std::string unused(std::set<std::string>& names, const std::string& wish);
  TensorId constant_of(const Graph& body, TensorId id);

  Graph& graph_;
  std::string prefix_;
  std::vector<Node> made_;
  std::set<std::string> tensor_names_;  ///< filled when the first node is written out
  std::set<std::string> node_names_;
  std::map<std::pair<const Graph*, TensorId>, TensorId> constants_;
  TensorId true_ = kNoTensor;
  TensorId false_ = kNoTensor;
  std::map<std::string, int> suffixes_;
};

}  // namespace morton::passes
