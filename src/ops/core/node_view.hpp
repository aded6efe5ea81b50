// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::ops {

/// Real numbers of several dimensions are data: what depends on an input of them is no shape
/// arithmetic.
[[nodiscard]] bool is_data(const GraphTensor& input);

/// Element type and shape, as shape inference passes them.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
};

/// The elements of a tensor of i64 or i32, exactly: a double does not hold the largest.
[[nodiscard]] std::vector<std::int64_t> whole_numbers(const Tensor& tensor);

/// What an operator's functions see of a node: its attributes, and the types of its operands (the
/// epilogue's inputs left out).
class NodeView {
 public:
  /// Keeps references; both must outlive the view.
  NodeView(const Graph& graph, const Node& node) : graph_(&graph), node_(&node) {}

  [[nodiscard]] const Node& node() const { return *node_; }
  /// ONNX's operator set that the node is written in.
  [[nodiscard]] std::int64_t opset() const {
    return node_->opset != 0 ? node_->opset : graph_->opset;
  }
  /// "Conv 'C1'", for messages.
  [[nodiscard]] std::string where() const;
  /// Throws ModelError "Conv 'C1': <what>", which is put down to the node.
  [[noreturn]] void fail(const std::string& what) const;
  /// Throws UnsupportedError likewise.
  [[noreturn]] void unsupported(const std::string& what) const;
  /// Throws NeedsSegments likewise: a run may find out what is wanted here.
  [[noreturn]] void wait(const std::string& what) const;
  /// Shape of the operands `a` and `b` together; throws ModelError that names the node, and `part`
  /// of it where that is not empty.
  [[nodiscard]] Shape broadcast(const Shape& a, const Shape& b, const std::string& part = "") const;

  /// Number of operands before the epilogue's.
  [[nodiscard]] std::size_t input_count() const { return node_->operand_count(); }
  [[nodiscard]] bool has_input(std::size_t i) const;
  /// Type of input i; throws ModelError when it is absent.
  [[nodiscard]] TensorType input(std::size_t i) const;
  /// The tensor itself; throws likewise.
  [[nodiscard]] const GraphTensor& tensor(std::size_t i) const {
    return graph_->tensor(input_id(i));
  }
  /// Its tensor's index; throws ModelError when it is absent.
  [[nodiscard]] TensorId input_id(std::size_t i) const;
  /// The value of input i where it is known when planning (a constant, or given with the options),
  /// or nullptr when it is not, or the input is absent.
  [[nodiscard]] const Tensor* constant(std::size_t i) const;
  /// The same, where it must be known. Throws UsageError that names the inputs of the model whose
  /// values it follows from, UnsupportedError where there are none.
  [[nodiscard]] const Tensor& value(std::size_t i) const;
  /// The whole numbers of input i, which must be known: of any integer type, any shape.
  [[nodiscard]] std::vector<std::int64_t> value_integers(std::size_t i) const;
  /// Type of output i, once inferred.
  [[nodiscard]] TensorType output(std::size_t i = 0) const;
  [[nodiscard]] TensorId output_id(std::size_t i = 0) const;
  /// Whether something reads output `i`; the first is always wanted.
  [[nodiscard]] bool wants_output(std::size_t i) const;

  /// Attributes, with a default where the model gives none; throw ModelError on a wrong type.
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] double real(std::string_view name, double otherwise) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name,
                                                   std::vector<std::int64_t> otherwise) const;
  [[nodiscard]] std::vector<double> reals(std::string_view name,
                                          std::vector<double> otherwise) const;
  [[nodiscard]] bool has(std::string_view name) const;
  /// An attribute that is 0 or 1; throws ModelError for another value.
  [[nodiscard]] bool flag(std::string_view name, std::int64_t otherwise) const;
  /// `axis` of a tensor of this rank, counted from the front; throws ModelError when it is not in
  /// [-rank, last].
  [[nodiscard]] std::size_t axis(std::int64_t axis, std::size_t rank, std::int64_t last) const;
  /// The attribute `axis` (0 without one) of input 0, counted from the front; throws as `axis`.
  [[nodiscard]] std::size_t axis_attribute() const;

 private:
  template <typename T>
  [[nodiscard]] T attribute(std::string_view name, T otherwise, const char* expected) const;

  const Graph* graph_;
  const Node* node_;
};

}  // namespace morton::ops
