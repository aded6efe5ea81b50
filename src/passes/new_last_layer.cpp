// SPDX-License-Identifier: Apache-2.0
#include "passes/new_last_layer.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "graph/random_network.hpp"
#include "ops/core/operator.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// Operators that take as many classes as there are, each for itself.
constexpr std::array<std::string_view, 14> kPassing{
    "Softmax",    "LogSoftmax",  "Sigmoid",           "Identity",     "Relu",
    "Dropout",    "Cast",        "Flatten",           "Squeeze",      "Unsqueeze",
    "ReduceMean", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"};

[[noreturn]] void refuse(const std::string& why) {
  throw UsageError(setting("classes") + ": " + why);
}

std::string quoted(const Node& node) { return "node '" + node.name + "' (" + node.op + ")"; }

/// An operand of a node; the constant is replaced for this node alone.
struct Place {
  NodeId node{};
  std::size_t input = 0;
};

struct LastLayer {
  Place weights{};
  std::size_t dimension = 0;  ///< of the weights, that counts classes
  std::vector<Place> biases;  ///< their last extents but ones count classes
  std::vector<Place> shapes;  ///< that Reshapes read
};

const Tensor& constant_at(const Graph& graph, Place place) {
  const Node& node = graph.node(place.node);
  const Tensor* data =
      place.input < node.inputs.size() ? constant_data(graph, node.inputs[place.input]) : nullptr;
  if (data == nullptr) {
    refuse(quoted(node) + " takes its input " + std::to_string(place.input) +
           " from other nodes; a last layer has constants of the file");
  }
  return *data;
}

/// Follows the output back to the layer that makes its classes.
LastLayer find_last_layer(const Graph& graph) {
  if (graph.outputs.size() != 1) {
    refuse("the model has " + std::to_string(graph.outputs.size()) +
           " outputs; it is known for models of one, whose classes the last layer makes");
  }
  LastLayer last;
  TensorId at = graph.outputs.front();
  for (;;) {
    const NodeId id = graph.producer(at);
    if (!id)
      refuse("the output '" + graph.tensor(graph.outputs.front()).name + "' comes from no layer");
    const Node& node = graph.node(id);
    const bool has_third = node.inputs.size() > 2 && node.inputs[2] != kNoTensor;
    if (node.op == "Gemm" || node.op == "MatMul" || node.op == "Conv") {
      last.weights = {id, 1};
      if (has_third) last.biases.push_back({id, 2});
      const bool rows = node.op == "Conv" || integer_of(node, "transB", 0) != 0;
      last.dimension = rows ? 0 : constant_at(graph, last.weights).shape().size() - 1;
      if (node.op == "Conv" && integer_of(node, "group", 1) != 1) {
        refuse(quoted(node) + " computes its outputs in groups");
      }
      return last;
    }
    if (node.op == "Add") {
      const bool first = constant_data(graph, node.inputs[0]) != nullptr;
      last.biases.push_back({id, first ? 0U : 1U});
      at = node.inputs[first ? 1 : 0];
      constant_at(graph, last.biases.back());
    } else if (node.op == "Reshape" && node.inputs.size() == 2) {
      last.shapes.push_back({id, 1});
      constant_at(graph, last.shapes.back());
      at = node.inputs[0];
    } else if (std::ranges::find(kPassing, node.op) != kPassing.end()) {
      at = node.inputs[0];
    } else {
      refuse(quoted(node) +
             " stands between the output and the last layer; it is known for Gemm, MatMul or "
             "Conv, with biases, activations, means and reshapes behind");
    }
  }
}

void replace(Graph& graph, Place place, Tensor data) {
  TensorId& input = graph.node(place.node).inputs[place.input];
  if (graph.consumers(input).size() == 1 && !graph.is_result(input)) {
    graph.tensor(input) = constant_tensor(graph.tensor(input).name, std::move(data));
    return;
  }
  input = graph.add_tensor(
      constant_tensor(graph.tensor(input).name + "/of_new_classes", std::move(data)));
}

}  // namespace

void make_new_last_layer(Graph& graph, std::int64_t classes, std::uint64_t seed) {
  if (classes < 1) refuse("expected a number from 1 on, got " + std::to_string(classes));
  const LastLayer last = find_last_layer(graph);
  const Tensor& before = constant_at(graph, last.weights);
  const DType dtype = before.dtype();
  Shape shape = before.shape();
  if (dtype != DType::f32 || shape.size() < 2) {
    refuse(quoted(graph.node(last.weights.node)) + " has weights of " +
           std::string(name_of(dtype)) + ' ' + to_string(shape) +
           "; expected f32 of two extents or more");
  }
  const std::int64_t old = shape[last.dimension];
  const std::int64_t terms =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()) /
      std::max<std::int64_t>(1, old);
  shape[last.dimension] = classes;
  // Everything is looked at before anything changes.
  std::vector<std::pair<Place, Tensor>> changed;
  graph::RandomNetwork network("last layer", seed);
  const TensorId weights = network.weights("weights", shape, terms, 1.0);
  changed.emplace_back(last.weights, network.finish().tensor(weights).data);
  for (const Place bias : last.biases) {
    const Tensor& values = constant_at(graph, bias);
    Shape extents = values.shape();
    const auto counts = std::ranges::find(extents, old);
    if (values.size() == 1 && old != 1) continue;  // one number for all classes
    if (values.dtype() != DType::f32 || values.size() != old || counts == extents.end()) {
      refuse(quoted(graph.node(bias.node)) + " adds constants of " + to_string(extents) + " to " +
             std::to_string(old) + " classes; expected one for each");
    }
    *counts = classes;
    Tensor zeros = Tensor::allocate(DType::f32, extents);
    std::ranges::fill(zeros.as_mutable<float>(), 0.0F);
    changed.emplace_back(bias, std::move(zeros));
  }
  for (const Place place : last.shapes) {
    Tensor extents = constant_at(graph, place).clone();
    for (std::int64_t& extent : extents.as_mutable<std::int64_t>()) {
      if (extent == old) extent = classes;
    }
    changed.emplace_back(place, std::move(extents));
  }
  for (auto& [place, data] : changed) replace(graph, place, std::move(data));
  GraphTensor& output = graph.tensor(graph.outputs.front());
  for (std::size_t d = 1; d < output.declared.size(); ++d) {
    graph::Dimension& extent = output.declared[d];
    if (extent.symbol.empty() && extent.value == old) extent.value = classes;
  }
  output.labels.clear();
  verify(graph, "a new last layer");
}

}  // namespace morton::passes
