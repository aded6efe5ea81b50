// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/graph_writer.hpp"
#include "ops/core/node_view.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

/// One node that is composed of others: what its operator's `expand` reads, and writes with.
/// Shapes, and values that planning knows, are numbers here; a Shape or a Range is no node of it.
class Expansion : public GraphWriter {
 public:
  /// Of `node`, which belongs to `graph`.
  Expansion(Graph& graph, const Node& node);

  [[nodiscard]] const NodeView& node() const { return view_; }
  /// Input i; kNoTensor where it is absent.
  [[nodiscard]] TensorId input(std::size_t i) const;
  /// Whether the node has an output `i`: those that nobody reads may be gone. A node that states
  /// none yet is inferred, and has all.
  [[nodiscard]] bool has_output(std::size_t i) const;

 private:
  Node copy_;  ///< the graph's list of nodes grows
  NodeView view_;
};

/// A row of a table: an operator of another domain than ONNX's own, composed of others.
[[nodiscard]] Operator foreign_operator(std::string_view name, Operator::Inputs inputs,
                                        std::vector<std::string_view> attributes,
                                        std::vector<TensorId> (*expand)(Expansion& expansion));

/// Whether this is f16 or bf16.
[[nodiscard]] bool is_short_real(DType type);

/// Whether an input that a kernel would read has no elements, and the result some: a product
/// without terms, an update of nothing. Kernels have no work there, so such a node is written out.
[[nodiscard]] bool computes_with_nothing(const Expansion& expansion);

/// Writes the nodes that compute `node` behind the graph's last, where it is composed of others. An
/// operator that devices compute in f32 alone is composed of itself in f32 and of conversions,
/// where its operands are f16 or bf16. Gives the tensors that its outputs are (kNoTensor for those
/// that nobody reads), or nothing where the node is computed as it is. Some of what is written may
/// be composed itself. Throws what `infer` throws.
[[nodiscard]] std::vector<TensorId> expand(Graph& graph, const Node& node);

/// Types of the outputs of a node that is composed of others; nothing where it is not.
[[nodiscard]] std::vector<TensorType> infer_composed(const NodeView& node);

/// Values of its outputs likewise, by the references of what it is composed of.
[[nodiscard]] std::vector<ReferenceTensor> reference_composed(
    const NodeView& node, std::span<const ReferenceTensor> inputs);

}  // namespace morton::ops
