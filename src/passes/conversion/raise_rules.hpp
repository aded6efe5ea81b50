// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "passes/conversion/conversion.hpp"
#include "passes/conversion/element_types.hpp"

namespace morton::passes {

/// What a rule sees of the node that it changes, and what it writes with. Nodes that it adds go
/// behind the last one; the graph is sorted afterwards.
class NodeRaise {
 public:
  /// `scope` is in front of the names of tensors that are added: in a body they must be others than
  /// outside.
  NodeRaise(Graph& graph, NodeId id, const ElementTypes& types, const KnownShapes& shapes,
            std::string scope)
      : graph_(graph), id_(id), types_(types), shapes_(shapes), scope_(std::move(scope)) {}

  [[nodiscard]] Node& node() { return graph_.node(id_); }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] bool has(const std::string& attribute) {
    return node().attributes.contains(attribute);
  }
  [[nodiscard]] bool has_input(std::size_t i) {
    return i < node().inputs.size() && node().inputs[i] != kNoTensor;
  }
  /// Of input i, where it is known.
  [[nodiscard]] std::optional<DType> input_type(std::size_t i);
  [[nodiscard]] const Shape* input_shape(std::size_t i);

  /// Makes a constant input `i`.
  void set_input(std::size_t i, const std::string& name, Tensor data);
  /// A node behind, of one result of the type of input 0.
  TensorId add(const std::string& op, std::vector<TensorId> inputs, DType type,
               std::map<std::string, Attribute> attributes = {});
  /// The result of the node is now another tensor, which stands for the old one in what is added.
  TensorId replace_result(DType type);
  /// Writes the old result.
  void add_writing(const std::string& op, std::vector<TensorId> inputs, TensorId result);
  /// The node was Upsample, whose scales are 1 or more.
  void note_growth() { grows_ = true; }
  [[nodiscard]] bool grows() const { return grows_; }
  /// The node has no form in the wanted set.
  void refuse(const std::string& why) { refusal_ = why; }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  Graph& graph_;
  NodeId id_;
  const ElementTypes& types_;
  const KnownShapes& shapes_;
  const std::string scope_;
  bool grows_ = false;
  std::string refusal_{};
};

/// How the nodes of an operator change where its version `since` replaces the one before.
struct RaiseRule {
  std::string_view op;
  std::int64_t since;
  void (*apply)(NodeRaise& raise);
};

/// In the order in which those of one operator follow each other. Versions without a rule only
/// allow more than the ones before.
[[nodiscard]] std::span<const RaiseRule> raise_rules();

}  // namespace morton::passes
