// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/core/graph_writer.hpp"
#include "ops/core/node_view.hpp"

namespace morton::ops {

/// The gradient of one node: what its operator's `gradient` reads and gives. It writes the gradient
/// of each input that is wanted with nodes of other operators.
class Gradient : public GraphWriter {
 public:
  /// The gradient of `node`, which belongs to `graph`, whose outputs have the gradients `outputs`
  /// (kNoTensor: none). `wanted[i]` says whether that of input i is asked for.
  Gradient(Graph& graph, const Node& node, std::vector<TensorId> outputs, std::vector<bool> wanted);

  [[nodiscard]] const NodeView& node() const { return view_; }
  [[nodiscard]] bool wants(std::size_t input) const;
  /// The gradient of output `i`: kNoTensor where nothing comes back to it.
  [[nodiscard]] TensorId of_output(std::size_t i = 0) const { return outputs_.at(i); }
  /// States the gradient of input `i`, of the input's shape. Once for each.
  void give(std::size_t i, TensorId gradient);
  /// What was given, kNoTensor elsewhere.
  [[nodiscard]] const std::vector<TensorId>& given() const { return given_; }

 private:
  Node copy_;  ///< the graph's list of nodes grows
  NodeView view_;
  std::vector<TensorId> outputs_;
  std::vector<bool> wanted_;
  std::vector<TensorId> given_;
};

/// The gradients of an operator that computes each element by `chain` over its inputs, seen in
/// `shapes` (one for each input, of as many elements), which broadcast to the output's.
void gradient_of_chain(Gradient& gradient, const Chain& chain, const std::vector<Shape>& shapes);
/// The same where the inputs broadcast as they are.
void gradient_of_chain(Gradient& gradient, const Chain& chain);
/// The gradient of an operator whose output has the elements of input 0 in row-major order.
void gradient_of_alias(Gradient& gradient);

}  // namespace morton::ops
