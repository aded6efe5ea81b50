// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"
#include "problems/problem.hpp"

namespace morton::ops {

/// Values in double for the reference, each with how far a device's result may lie from it
/// (docs/numerics.md). Row-major. What double cannot hold (integers beyond 2^53) is rounded, and
/// the error says so.
struct ReferenceTensor {
  Shape shape;
  std::vector<double> value;
  std::vector<double> error;
};

/// As `Inputs::most`, of operators that take any number.
inline constexpr std::size_t kAnyNumber = std::size_t{1} << 20;

/// Where an element of an output comes from: element `index`, row-major, of input `input`; kNowhere
/// stands for zero.
struct Origin {
  static constexpr int kNowhere = -1;
  int input = kNowhere;
  std::int64_t index = 0;
};

class Expansion;
class Gradient;

/// One operator: everything that the engine knows of it. src/ops/ops.def lists them all and says
/// which file each lives in: one of its own, or the table of its family.
struct Operator {
  /// What it takes. Attributes and element types are stated apart.
  struct Inputs {
    std::size_t least = 1;
    std::size_t most = 1;
    /// Whether the inputs of an elementwise operator are all of one type.
    enum class Types : std::uint8_t { one, any } types = Types::one;
    /// Those whose values, not only their shapes, say what shape a result has or what is computed
    /// (Reshape's shape, Slice's starts): they must be known when the model is planned.
    std::vector<std::size_t> planned{};
    /// Those that hold what is learned, where they are constants of the model: weights and biases.
    std::vector<std::size_t> parameters{};
    /// Those whose element types are all that it needs of them (CastLike's second).
    std::vector<std::size_t> types_alone{};
    /// Their shapes are all that it needs of them (Shape, Size).
    bool shapes_only = false;
  };
  /// How the host computes it, in one of these ways. Elementwise operators and those with `alias`
  /// need none.
  struct Host {
    /// Plain loops in double, without the node's epilogue (see `reference` below).
    ReferenceTensor (*reference)(const NodeView& node,
                                 std::span<const ReferenceTensor> inputs) = nullptr;
    /// The same for operators with several outputs: one value for each.
    std::vector<ReferenceTensor> (*references)(const NodeView& node,
                                               std::span<const ReferenceTensor> inputs) = nullptr;
    /// For operators that only move elements: where those of each output come from, row-major. The
    /// reference follows, and values known at planning, whatever their type.
    std::vector<std::vector<Origin>> (*origins)(const NodeView& node) = nullptr;
    /// For operators that are computed when the model is planned (Range, Shape): the outputs'
    /// values. Called when all inputs are known, or, with `shapes_only`, as soon as their shapes
    /// are. Of an operator with `alias`: the values of the outputs after the first (Dropout's
    /// mask).
    std::vector<Tensor> (*values)(const NodeView& node) = nullptr;
    /// The output has the elements of input 0 in row-major order.
    bool alias = false;
    /// Control flow and lists of tensors: infer_shapes puts other nodes in its place
    /// (passes/shapes/control_flow.hpp), and nothing behind it sees one.
    bool is_control = false;
  };

  std::string_view name;  ///< ONNX's name
  Inputs inputs{};
  /// Attributes that it understands; any other in a model is an UnsupportedError.
  std::vector<std::string_view> attributes{};
  /// First opset whose definition the file implements; older models are refused with its number.
  std::int64_t since_opset = 7;

  /// Types of the outputs; throws ModelError when the inputs do not fit.
  std::vector<TensorType> (*infer)(const NodeView& node) = nullptr;
  Host host{};
  /// The problem to solve, without the node's epilogue (see `lower` below); what the operator
  /// itself does to each result (a bias) is the problem's epilogue. Null for elementwise operators
  /// and for those with `alias`.
  BoundProblem (*lower)(const NodeView& node) = nullptr;
  /// In place of `lower`, for operators that are several problems: one for each output (Split), or
  /// for each part of one output (Concat). Parts of one output are computed in this order, and
  /// write through a dst view without a grouping, since a kernel that walks dst's memory would
  /// write all of it.
  std::vector<BoundProblem> (*parts)(const NodeView& node) = nullptr;
  /// For operators that are composed of others: writes nodes of those, and gives the tensors that
  /// the outputs are (ops/core/expansion.hpp). Nothing where this node is computed as it is. Their
  /// inference (where `infer` is null), reference and gradient follow.
  std::vector<TensorId> (*expand)(Expansion& expansion) = nullptr;
  /// For elementwise operators: the chain over its inputs (0, 1, ...); null for all others. Their
  /// inference, reference and lowering follow from it.
  Chain (*chain)(const NodeView& node) = nullptr;
  /// Element types that its inputs and outputs may have where a device computes it.
  std::vector<DType> types{DType::f32};
  /// Fusion may put elementwise operators behind it.
  bool takes_epilogue = true;
  /// Gives the gradients of the inputs that are wanted, by nodes of other operators
  /// (ops/core/gradient.hpp). Null for operators with `alias` and for elementwise ones, whose
  /// gradients follow (unless they state one: Sigmoid), and for operators that cannot be trained
  /// through.
  void (*gradient)(Gradient& gradient) = nullptr;
  /// Whose operator it is. A model's file names those of ONNX, and Morton's in the domain "morton".
  /// Those of other domains are named with them ("com.microsoft.FusedConv"). Those inside are
  /// written by passes alone.
  enum class Home : std::uint8_t { onnx, morton, other, inside } home = Home::onnx;
};

/// A family of operators that differ in little. Its file makes them once, a row each.
using OperatorTable = std::vector<Operator>;

/// The operator named `name`, or nullptr.
[[nodiscard]] const Operator* find_operator(std::string_view name);
/// The node's operator; throws UnsupportedError that names the node.
[[nodiscard]] const Operator& operator_of(const Node& node);
/// All operators, in the order of ops.def.
[[nodiscard]] const std::vector<const Operator*>& operators();

/// Throws UnsupportedError or ModelError when no operator here can be the node: an unknown one, a
/// wrong number of inputs, an attribute or opset that is not understood. Needs no shapes.
void check_supported(const Graph& graph, const Node& node);
/// Throws ModelError when a node of a known operator lacks an input or has too many: the part of
/// `check_supported` that whoever reads inputs by their place relies on.
void check_inputs(const Graph& graph, const Node& node);
/// Checks the node against its operator's declaration, then infers; the epilogue's side operands
/// must broadcast to the result.
[[nodiscard]] std::vector<TensorType> infer(const Graph& graph, const Node& node);
/// The node's value with its epilogue. `inputs` parallels `node.inputs` (absent ones empty).
[[nodiscard]] ReferenceTensor reference(const Graph& graph, const Node& node,
                                        std::span<const ReferenceTensor> inputs);
/// The same with every output's value; the epilogue belongs to the first.
[[nodiscard]] std::vector<ReferenceTensor> references(const Graph& graph, const Node& node,
                                                      std::span<const ReferenceTensor> inputs);
/// A host tensor as the reference sees it: exact.
[[nodiscard]] ReferenceTensor to_reference(const Tensor& tensor);

}  // namespace morton::ops
