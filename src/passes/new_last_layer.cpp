// SPDX-License-Identifier: Apache-2.0
#include "passes/new_last_layer.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
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
  bool is_conv = false;
  std::vector<Place> biases;
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
      last.is_conv = node.op == "Conv";
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

struct Classes {
  std::int64_t before, now;
};

/// The shape of a bias of `now` classes. `filter_rank` is that of a convolution's weights, else 0:
/// its classes are channels, with the extents of an image behind them.
Shape bias_shape(const Tensor& values, Classes classes, std::size_t filter_rank, const Node& node) {
  Shape extents = values.shape();
  if (extents.empty() && filter_rank == 0) return {classes.now};
  const std::size_t behind = filter_rank > 1 ? filter_rank - 1 : 1;
  std::size_t at = extents.size() >= behind ? extents.size() - behind : extents.size() - 1;
  // Behind a Flatten they are the last.
  if (!extents.empty() && extents[at] != classes.before) at = extents.size() - 1;
  if (values.dtype() != DType::f32 || values.size() != classes.before || extents.empty() ||
      extents[at] != classes.before) {
    refuse(quoted(node) + " adds constants of " + to_string(extents) + " to " +
           std::to_string(classes.before) + " classes; expected one for each");
  }
  extents[at] = classes.now;
  return extents;
}

/// What a Reshape reads, with `now` where it has `before` classes.
Tensor reshaped(const Tensor& extents, Classes classes, const Node& node) {
  Tensor changed = extents.clone();
  const auto numbers = changed.as_mutable<std::int64_t>();
  if (numbers.empty()) return changed;
  const auto behind_batch = numbers.subspan(1);
  if (std::ranges::count(behind_batch, classes.before) > 1) {
    refuse(quoted(node) + " has several extents of " + std::to_string(classes.before) +
           ", and nothing tells which counts classes");
  }
  std::ranges::replace(behind_batch, classes.before, classes.now);
  return changed;
}

/// The output's extent that counts classes; nothing where the model does not state it as a number.
/// Throws UsageError where it states others alone.
std::optional<std::size_t> class_extent(const GraphTensor& output, std::int64_t classes,
                                        std::size_t filter_rank) {
  const std::vector<graph::Dimension>& extents = output.declared;
  const auto counts = [&](std::size_t d) {
    return d < extents.size() && extents[d].symbol.empty() && extents[d].value == classes;
  };
  if (filter_rank > 0 && extents.size() == filter_rank && counts(1)) return 1;
  for (std::size_t d = extents.size(); d-- > 1;) {
    if (counts(d)) return d;
  }
  const bool is_open =
      std::any_of(extents.begin() + (extents.empty() ? 0 : 1), extents.end(),
                  [](const graph::Dimension& extent) { return !extent.symbol.empty(); });
  if (extents.empty() || is_open) return std::nullopt;
  refuse("the output '" + output.name + "' has no extent of the last layer's " +
         std::to_string(classes) + " classes");
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
  const std::size_t filter_rank = last.is_conv ? shape.size() : 0;
  for (const Place bias : last.biases) {
    const Tensor& values = constant_at(graph, bias);
    if (values.size() == 1 && old != 1) continue;  // one number for all classes
    Tensor zeros = Tensor::allocate(
        DType::f32, bias_shape(values, {old, classes}, filter_rank, graph.node(bias.node)));
    std::ranges::fill(zeros.as_mutable<float>(), 0.0F);
    changed.emplace_back(bias, std::move(zeros));
  }
  for (const Place place : last.shapes) {
    changed.emplace_back(
        place, reshaped(constant_at(graph, place), {old, classes}, graph.node(place.node)));
  }
  const TensorId output = graph.outputs.front();
  const auto counting = class_extent(graph.tensor(output), old, filter_rank);
  for (auto& [place, data] : changed) replace(graph, place, std::move(data));
  if (counting) graph.tensor(output).declared[*counting].value = classes;
  graph.tensor(output).labels.clear();
  verify(graph, "a new last layer");
}

}  // namespace morton::passes
