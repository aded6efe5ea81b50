// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/algebra/chain.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "base/tensor_id.hpp"
#include "graph/file_facts.hpp"
#include "morton/tensor.hpp"
#include "morton/value_form.hpp"

namespace morton::graph {

/// The newest version of ONNX's operator set that is read. What Morton writes itself is of it.
inline constexpr std::int64_t kNewestOpset = 28;
/// The same of ONNX's domain of classical machine learning.
inline constexpr std::string_view kMlDomain = "ai.onnx.ml";
inline constexpr std::int64_t kNewestMlOpset = 5;

/// An extent that a model leaves open, by name ("batch"), or a number.
struct Dimension {
  std::int64_t value = 0;
  std::string symbol;  ///< set when the extent is open; `value` then means nothing
};

/// A value that flows through the graph: logical, dense, without any layout.
struct GraphTensor {
  enum class Kind : std::uint8_t {
    input,       ///< given by the caller at each run
    constant,    ///< `data` holds it
    state,       ///< kept between runs, starts as `data`
    activation,  ///< computed by a node
  };
  std::string name;
  DType dtype = DType::f32;
  Kind kind = Kind::activation;
  /// Of inputs and outputs, as the model states them; empty for others.
  std::vector<Dimension> declared{};
  /// Known for inputs once symbols are bound, and for activations after shape inference.
  Shape shape{};
  /// Of constants and states. An input has it where its value is known when planning, because a
  /// shape follows from it; every run must then give the same.
  Tensor data{};
  /// Of a classifier's results: the names of the classes, which its numbers count, or of which each
  /// has a column. Empty for others.
  std::vector<std::string> labels{};
  /// Of an input or output that is no tensor. The rest is then of its elements.
  ValueForm form{};

  /// The value, where it is known when planning, or nullptr.
  [[nodiscard]] const Tensor* planned() const {
    const bool given = kind == Kind::input && data.shape() == shape && data.dtype() == dtype;
    return kind == Kind::constant || given ? &data : nullptr;
  }
};

/// A constant of this name.
[[nodiscard]] MORTON_FOR_TOOLS GraphTensor constant_tensor(std::string name, Tensor data);

/// Value of an attribute.
using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>, Tensor>;

struct Graph;

/// A graph inside of a node: a branch of If, what Loop or Scan repeats.
struct Body {
  std::shared_ptr<const Graph> graph;
  /// How many of its inputs, the last ones, are values from outside. The node has them as inputs
  /// behind its own, body after body.
  std::size_t captured = 0;

  /// Its other inputs.
  [[nodiscard]] std::size_t formals() const;
};

/// One operation. `epilogue` is what fusion put behind it: its input 0 is the operation's own
/// result; its further inputs are the last epilogue.input_count - 1 of `inputs`.
struct Node {
  std::string op;    ///< operator name, as in src/ops/ops.def
  std::string name;  ///< the model's name of the node, or a made-up one; unique
  std::vector<TensorId> inputs{};
  std::vector<TensorId> outputs{};
  std::map<std::string, Attribute> attributes{};
  Chain epilogue{};
  std::vector<std::string> fused{};  ///< names of the nodes that fusion merged into this one
  /// Tells a node that computes a result anew from the one that did before: they stay apart.
  int copy = 0;
  /// Of ONNX's operator set, where the node is written by another than the graph's; else 0.
  std::int64_t opset = 0;
  /// Of control flow, by the attribute's name.
  std::map<std::string, Body> bodies{};

  /// How many of `inputs` are the operation's own: those before the epilogue's.
  [[nodiscard]] std::size_t operand_count() const {
    const std::size_t sides = static_cast<std::size_t>(epilogue.input_count) - 1;
    return inputs.size() < sides ? 0 : inputs.size() - sides;
  }
};

/// Its number among the graph's nodes; it changes when nodes before it come or go.
using NodeId = Id<Node>;

/// At the end of a run `state` takes the value that `value` has then.
struct StateUpdate {
  TensorId state, value;
};

/// An extent of an output that only a run finds out. The output's shape has the bound.
struct OutputCount {
  TensorId output;
  std::size_t dimension;
  TensorId count;  ///< i64 of one element, one of the graph's outputs too
};

/// An input that a feed fills, along one dimension.
struct GrowthInput {
  std::string name;
  std::size_t dimension = 0;
};

/// A state that counts what feeds have gathered (passes::feed_states).
struct Growth {
  std::string state;                ///< its name; i64 of one element, from 0 on
  std::int64_t capacity = 0;        ///< the most that it may count
  std::int64_t step = 0;            ///< how much more behind each run
  std::vector<GrowthInput> inputs;  ///< what it counts, one at least; states once they are fed
};

/// A network: what to compute. Nodes stand in an order in which each comes after its producers.
struct Graph {
  std::string name;
  std::int64_t opset = 13;  ///< of ONNX's operator set: which definition of an operator holds
  Indexed<TensorId, GraphTensor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<StateUpdate> updates;
  std::vector<OutputCount> counts;
  /// How many of `outputs`, the last ones, are there for `counts` alone.
  std::size_t counting_outputs = 0;
  std::vector<Growth> growths;
  FileFacts facts;

  MORTON_FOR_TOOLS TensorId add_tensor(GraphTensor tensor);
  [[nodiscard]] const GraphTensor& tensor(TensorId id) const;
  [[nodiscard]] MORTON_FOR_TOOLS GraphTensor& tensor(TensorId id);
  /// A node that is there, as of `producer` and `consumers`; none is not.
  [[nodiscard]] const Node& node(NodeId id) const {
    return nodes[static_cast<std::size_t>(id.index())];
  }
  [[nodiscard]] Node& node(NodeId id) { return nodes[static_cast<std::size_t>(id.index())]; }
  /// The tensor named `name`, or kNoTensor.
  [[nodiscard]] MORTON_FOR_TOOLS TensorId find(std::string_view name) const;
  /// True for what a run leaves behind: outputs, and values that states take.
  [[nodiscard]] bool is_result(TensorId id) const;
  /// True for the value that a state takes.
  [[nodiscard]] bool is_update(TensorId id) const;
  /// The node that computes `id`, or none.
  [[nodiscard]] NodeId producer(TensorId id) const;
  /// The nodes that read `id`, each once, in order.
  [[nodiscard]] std::vector<NodeId> consumers(TensorId id) const;
};

/// Checks what every stage relies on: tensor ids in range, names unique, one producer for each
/// activation, no use before production (so no cycle), constants with data, epilogues with as many
/// inputs as they read. Throws ModelError that names `stage`, the node and the tensor.
MORTON_FOR_TOOLS void verify(const Graph& graph, const std::string& stage);

/// Orders the nodes so that each follows its producers, keeping the given order where it may;
/// throws ModelError naming the nodes of a cycle.
void sort_topologically(Graph& graph);

/// One line for each node: outputs, operator, inputs with shapes, epilogue.
[[nodiscard]] MORTON_FOR_TOOLS std::string print(const Graph& graph);

/// Graphviz text.
[[nodiscard]] std::string print_dot(const Graph& graph);

}  // namespace morton::graph
