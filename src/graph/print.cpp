// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::graph {
namespace {

/// "batchx1x28x28": as far as it is known; empty before shapes are inferred.
std::string shape_of(const GraphTensor& tensor) {
  if (tensor.kind == GraphTensor::Kind::constant) return to_string(tensor.data.shape());
  if (!tensor.shape.empty() || tensor.declared.empty()) {
    return tensor.shape.empty() ? "" : to_string(tensor.shape);
  }
  std::string text;
  for (const Dimension& dimension : tensor.declared) {
    text += text.empty() ? "" : "x";
    text += dimension.symbol.empty() ? std::to_string(dimension.value) : dimension.symbol;
  }
  return text;
}

/// "conv1 1x6x28x28"; "-" for an absent input.
std::string describe(const Graph& graph, TensorId id) {
  if (id == kNoTensor) return "-";
  const GraphTensor& tensor = graph.tensor(id);
  const std::string shape = shape_of(tensor);
  std::string text = tensor.name + (shape.empty() ? "" : " " + shape);
  if (tensor.dtype != DType::f32) text += " " + std::string(name_of(tensor.dtype));
  return text;
}

struct AttributeWriter {
  std::ostream& out;

  void operator()(std::int64_t value) const { out << value; }
  void operator()(double value) const { out << value; }
  void operator()(const std::string& value) const { out << value; }
  void operator()(const Tensor& value) const { out << "tensor " << to_string(value.shape()); }
  template <typename T>
  void operator()(const std::vector<T>& values) const {
    out << "[";
    for (std::size_t i = 0; i < values.size(); ++i) out << (i > 0 ? "," : "") << values[i];
    out << "]";
  }
};

std::string describe_attributes(const Node& node) {
  std::ostringstream out;
  for (const auto& [name, value] : node.attributes) {
    out << " " << name << "=";
    std::visit(AttributeWriter{out}, value);
  }
  return out.str();
}

/// Text between double quotes of the dot language.
std::string dot_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace

std::string print(const Graph& graph) {
  std::string text = "graph " + graph.name + " (opset " + std::to_string(graph.opset) + ")\n";
  for (const TensorId id : graph.inputs) text += "  input " + describe(graph, id) + "\n";
  for (const Node& node : graph.nodes) {
    text += "  ";
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      text += (i > 0 ? ", " : "") + describe(graph, node.outputs[i]);
    }
    text += " = " + node.op + "(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      text += i == 0 ? "" : (i == node.operand_count() ? "; " : ", ");
      text += describe(graph, node.inputs[i]);
    }
    text += ")" + describe_attributes(node);
    if (!node.epilogue.is_identity()) text += " then " + node.epilogue.print();
    text += "\n";
  }
  for (const TensorId id : graph.outputs) text += "  output " + describe(graph, id) + "\n";
  for (const StateUpdate& update : graph.updates) {
    text += "  state " + describe(graph, update.state) + " takes " + describe(graph, update.value) +
            "\n";
  }
  return text;
}

std::string print_dot(const Graph& graph) {
  std::string text = "digraph " + dot_string(graph.name) + " {\n  node [shape=box];\n";
  for (const TensorId id : graph.inputs) {
    text += "  t" + std::to_string(id.index()) +
            " [shape=oval, label=" + dot_string(describe(graph, id)) + "];\n";
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    std::string label = node.op + " " + node.name;
    if (!node.epilogue.is_identity()) label += " then " + node.epilogue.print();
    text += "  n" + std::to_string(n) + " [label=" + dot_string(label) + "];\n";
    for (const TensorId id : node.inputs) {
      // Constants would hide the network's own structure.
      if (id == kNoTensor || graph.tensor(id).kind == GraphTensor::Kind::constant) continue;
      const NodeId from = graph.producer(id);
      text += "  " +
              (from ? "n" + std::to_string(from.index()) : "t" + std::to_string(id.index())) +
              " -> n" + std::to_string(n) + " [label=" + dot_string(describe(graph, id)) + "];\n";
    }
  }
  for (const TensorId id : graph.outputs) {
    const NodeId from = graph.producer(id);
    text += "  o" + std::to_string(id.index()) +
            " [shape=oval, label=" + dot_string(describe(graph, id)) + "];\n";
    text += "  " + (from ? "n" + std::to_string(from.index()) : "t" + std::to_string(id.index())) +
            " -> o" + std::to_string(id.index()) + ";\n";
  }
  return text + "}\n";
}

}  // namespace morton::graph
