// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::ops {

/// Writes nodes behind a graph's last: gradients, losses, updates. Every tensor has its type and
/// shape at once, so those of the tensors that it is given must be known. Nodes are of the newest
/// operator set, whatever the graph's.
class GraphWriter {
 public:
  /// New nodes and tensors are named `prefix`, "/", their operator and a number.
  GraphWriter(Graph& graph, std::string prefix) : graph_(graph), prefix_(std::move(prefix)) {}

  [[nodiscard]] Graph& graph() const { return graph_; }
  /// A copy: a tensor that is added moves the graph's tensors.
  [[nodiscard]] Shape shape_of(TensorId id) const { return graph_.tensor(id).shape; }
  [[nodiscard]] DType type_of(TensorId id) const { return graph_.tensor(id).dtype; }

  using Attributes = std::map<std::string, Attribute>;
  /// A node of operator `op`; its output.
  TensorId add(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {});
  /// A node of several outputs: the first `outputs` of them.
  std::vector<TensorId> add_several(std::string_view op, std::vector<TensorId> inputs,
                                    std::size_t outputs, Attributes attributes = {});
  TensorId constant(Tensor value);
  /// A constant list of whole numbers.
  TensorId list(const std::vector<std::int64_t>& values);
  /// The whole numbers from `first` on, row-major.
  TensorId numbered(std::int64_t first, const Shape& shape);
  /// A constant without dimensions.
  TensorId scalar(DType type, double value);
  /// A chain over tensors that broadcast to the shape of the first; the chain's input i is operand
  /// i. Operands that it does not read are left out.
  TensorId chain(const Chain& chain, const std::vector<TensorId>& operands);
  /// One primitive over tensors that broadcast to the shape of the first.
  TensorId apply(ScalarOp op, const std::vector<TensorId>& operands);

  /// `value` in another shape of as many elements.
  TensorId reshaped(TensorId value, const Shape& shape);
  /// Dimension d of the result is dimension order[d] of `value`.
  TensorId transposed(TensorId value, const std::vector<std::int64_t>& order);
  /// `value` repeated to a shape that it broadcasts to.
  TensorId expanded(TensorId value, const Shape& shape);
  /// The sum (or mean) along these dimensions, which stay as 1.
  TensorId sum(TensorId value, const std::vector<std::int64_t>& axes);
  TensorId mean(TensorId value, const std::vector<std::int64_t>& axes);
  /// The sum of all elements that came from the same one when a tensor of `shape` was broadcast.
  TensorId summed_to(TensorId value, const Shape& shape);
  /// Elements from `starts` to before `ends`, every `steps`-th, of all dimensions.
  TensorId sliced(TensorId value, const std::vector<std::int64_t>& starts,
                  const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& steps);
  /// `value` with zeros before and behind, of all dimensions.
  TensorId padded(TensorId value, const std::vector<std::int64_t>& before,
                  const std::vector<std::int64_t>& behind);
  TensorId scaled(TensorId value, double factor);
  /// `value` in another element type, by the rules of Cast; an absent one stays absent.
  TensorId converted(TensorId value, DType type);

 private:
  [[nodiscard]] std::string unused_name(const std::string& wish) const;
  TensorId reduced(std::string_view op, TensorId value, const std::vector<std::int64_t>& axes);
  TensorId place(Node node);
  std::vector<TensorId> place(Node node, std::size_t outputs);

  Graph& graph_;
  std::string prefix_;
};

}  // namespace morton::ops
