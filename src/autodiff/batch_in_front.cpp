// SPDX-License-Identifier: Apache-2.0
#include "autodiff/batch_in_front.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace morton::autodiff {
namespace {

constexpr const char* kBatch = "batch";

void swap_extents(GraphTensor& tensor) {
  std::ranges::reverse(tensor.declared);
  std::ranges::reverse(tensor.shape);
}

/// An activation of the same elements as `like`, with an example of the batch in each of its
/// "columns" or "rows".
TensorId add_turned(Graph& graph, TensorId like, const char* examples) {
  GraphTensor turned;
  turned.name = graph.tensor(like).name + "." + examples;
  turned.dtype = graph.tensor(like).dtype;
  return graph.add_tensor(std::move(turned));
}

Node transpose(const Graph& graph, TensorId from, TensorId to) {
  Node node;
  node.op = "Transpose";
  node.name = graph.tensor(from).name + ".transposed";
  node.inputs = {from};
  node.outputs = {to};
  node.attributes["perm"] = std::vector<std::int64_t>{1, 0};
  return node;
}

bool is_softmax_at_end(const Node& node) { return node.op == "Softmax" || node.op == "LogSoftmax"; }

/// Classes lie along the second extent from now on.
void turn_axis(Node& softmax) {
  const auto given = softmax.attributes.find("axis");
  const auto* axis =
      given == softmax.attributes.end() ? nullptr : std::get_if<std::int64_t>(&given->second);
  if (axis == nullptr || (*axis != 0 && *axis != -2)) {
    throw UsageError("train: node '" + softmax.name +
                     "' goes along the batch, which is the model's last extent");
  }
  softmax.attributes["axis"] = std::int64_t{1};
}

void turn_output(Graph& graph) {
  const TensorId output = graph.outputs.front();
  const NodeId last = graph.producer(output);
  if (!last) throw UsageError("train: no node computes the model's output");
  Node& node = graph.node(last);
  swap_extents(graph.tensor(output));
  if (is_softmax_at_end(node) || node.op == "Sigmoid") {
    if (is_softmax_at_end(node)) turn_axis(node);
    const TensorId rows = add_turned(graph, output, "rows");
    const TensorId before = std::exchange(node.inputs.front(), rows);
    graph.nodes.insert(graph.nodes.begin() + last.index(), transpose(graph, before, rows));
    return;
  }
  const TensorId columns = add_turned(graph, output, "columns");
  // What reads the output inside of the model reads the columns.
  for (Node& reader : graph.nodes) {
    std::ranges::replace(reader.inputs, output, columns);
    std::ranges::replace(reader.outputs, output, columns);
  }
  graph.nodes.push_back(transpose(graph, columns, output));
}

void turn_input(Graph& graph) {
  const TensorId input = graph.inputs.front();
  swap_extents(graph.tensor(input));
  const TensorId columns = add_turned(graph, input, "columns");
  for (Node& reader : graph.nodes) std::ranges::replace(reader.inputs, input, columns);
  graph.nodes.insert(graph.nodes.begin(), transpose(graph, input, columns));
}

}  // namespace

bool has_batch_last(const Graph& model) {
  if (model.inputs.size() != 1) return false;
  const auto& declared = model.tensor(model.inputs.front()).declared;
  return declared.size() == 2 && declared[0].symbol.empty() && declared[1].symbol == kBatch;
}

void put_batch_in_front(Graph& model) {
  if (model.outputs.size() != 1) {
    throw UsageError("train: the model has " + std::to_string(model.outputs.size()) +
                     " outputs; a model that is trained has one");
  }
  turn_output(model);
  turn_input(model);
}

}  // namespace morton::autodiff
