// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "ops/node_view.hpp"

namespace morton {

/// Values in double for the reference, each with how far a device's f32 result may lie from it
/// (NUMERICS_AND_TRUST.md). Row-major.
struct ReferenceTensor {
  Shape shape;
  std::vector<double> value;
  std::vector<double> error;
};

/// One operator: everything that the engine knows of it. Each lives in one file,
/// src/ops/<name>.cpp, and is listed in src/ops/ops.def.
struct Operator {
  std::string_view name;  ///< ONNX's name
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
  /// Attributes that it understands; any other in a model is an UnsupportedError.
  std::vector<std::string_view> attributes{};
  /// First opset whose definition the file implements; older models are refused with its number.
  std::int64_t since_opset = 7;

  /// Types of the outputs; throws ModelError when the inputs do not fit.
  std::vector<TensorType> (*infer)(const NodeView& node) = nullptr;
  /// Plain loops in double, without the node's epilogue (see `reference` below). Null for
  /// elementwise operators and for those with `alias`.
  ReferenceTensor (*reference)(const NodeView& node,
                               std::span<const ReferenceTensor> inputs) = nullptr;
  /// The problem to solve, without the node's epilogue (see `lower` below); what the operator
  /// itself does to each result (a bias) is the problem's epilogue. Null for elementwise operators
  /// and for those with `alias`.
  BoundProblem (*lower)(const NodeView& node) = nullptr;
  /// For elementwise operators: the chain over its inputs (0, 1, ...); null for all others. Their
  /// inference, reference and lowering follow from it.
  Chain (*chain)(const NodeView& node) = nullptr;
  /// Element types that its inputs and outputs may have where a device computes it.
  std::vector<DType> types{DType::f32};
  /// The output has the elements of input 0 in row-major order.
  bool alias = false;
  /// Fusion may put elementwise operators behind it.
  bool takes_epilogue = true;
};

/// The operator named `name`, or nullptr.
[[nodiscard]] const Operator* find_operator(std::string_view name);
/// The node's operator; throws UnsupportedError that names the node.
[[nodiscard]] const Operator& operator_of(const Node& node);
/// All operators, in the order of ops.def.
[[nodiscard]] const std::vector<const Operator*>& operators();

/// Throws UnsupportedError or ModelError when no operator here can be the node: an unknown one, a
/// wrong number of inputs, an attribute or opset that is not understood. Needs no shapes.
void check_supported(const Graph& graph, const Node& node);
/// Checks the node against its operator's declaration, then infers; the epilogue's side operands
/// must broadcast to the result.
[[nodiscard]] std::vector<TensorType> infer(const Graph& graph, const Node& node);
/// The node's value with its epilogue. `inputs` parallels `node.inputs` (absent ones empty).
[[nodiscard]] ReferenceTensor reference(const Graph& graph, const Node& node,
                                        std::span<const ReferenceTensor> inputs);
/// The node's problem with its epilogue, bias inputs of Conv and Gemm included. Input shapes must
/// have been inferred. Throws UnsupportedError for element types other than f32, and InternalError
/// for operators with `alias`, which are nothing to compute.
[[nodiscard]] BoundProblem lower(const Graph& graph, const Node& node);

/// The chain over all of an elementwise node's inputs, its epilogue included: input i of the chain
/// is node.inputs[i].
[[nodiscard]] Chain whole_chain(const Graph& graph, const Node& node);

/// A host tensor as the reference sees it: exact.
[[nodiscard]] ReferenceTensor to_reference(const Tensor& tensor);

}  // namespace morton
