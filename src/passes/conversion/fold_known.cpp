// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "ops/core/operator.hpp"
#include "ops/core/planned.hpp"
#include "passes/conversion/conversion.hpp"
#include "passes/fold_constants.hpp"
#include "passes/passes.hpp"

namespace morton::passes {
namespace {

constexpr std::int64_t kAnyBytes = std::int64_t{1} << 20;

/// What is drawn anew at each run, and what engines want to see: the codes of weights.
constexpr std::string_view kStay[]{
    "Bernoulli",         "Dropout",          "Multinomial",
    "RandomNormal",      "RandomNormalLike", "RandomUniform",
    "RandomUniformLike", "DequantizeLinear", "com.microsoft.DequantizeLinear",
};

bool is_known(const Graph& graph, const Node& node) {
  const Operator* op = find_operator(node.op);
  if (op == nullptr || op->host.is_control || !node.bodies.empty() || node.outputs.size() != 1 ||
      node.outputs[0] == kNoTensor || graph.is_result(node.outputs[0]) ||
      std::ranges::find(kStay, node.op) != std::end(kStay)) {
    return false;
  }
  return std::ranges::all_of(node.inputs, [&](TensorId id) {
    return id == kNoTensor || graph.tensor(id).kind == GraphTensor::Kind::constant;
  });
}

std::int64_t bytes_of_inputs(const Graph& graph, const Node& node) {
  std::int64_t bytes = 0;
  for (const TensorId id : node.inputs) {
    if (id != kNoTensor) bytes += static_cast<std::int64_t>(graph.tensor(id).data.bytes());
  }
  return bytes;
}

/// Nothing too for a node that Morton does not compute: it stays as it is.
std::optional<Tensor> value_of(Graph& graph, const Node& node) {
  try {
    check_supported(graph, node);
    const std::vector<TensorType> types = infer(graph, node);
    GraphTensor& result = graph.tensor(node.outputs[0]);
    result.dtype = types[0].dtype;
    result.shape = types[0].shape;
    const std::int64_t bytes = element_count(result.shape) * size_of(result.dtype);
    if (bytes > std::max(kAnyBytes, bytes_of_inputs(graph, node))) return {};
    std::vector<Tensor> planned = planned_values(graph, node);
    if (!planned.empty()) return std::move(planned[0]);
    return value_of_known(graph, node);
  } catch (const UnsupportedError&) {
    return {};
  }
}

}  // namespace

int fold_known(Graph& graph) {
  int folded = 0;
  std::vector<Node> kept;
  for (Node& node : std::exchange(graph.nodes, {})) {
    for (auto& [name, body] : node.bodies) {
      auto inside = std::make_shared<Graph>(*body.graph);
      folded += fold_known(*inside);
      body.graph = std::move(inside);
    }
    std::optional<Tensor> value;
    if (is_known(graph, node)) value = value_of(graph, node);
    if (!value) {
      kept.push_back(std::move(node));
      continue;
    }
    const std::string name = graph.tensor(node.outputs[0]).name;
    graph.tensor(node.outputs[0]) = graph::constant_tensor(name, std::move(*value));
    ++folded;
  }
  graph.nodes = std::move(kept);
  if (folded > 0) drop_unused(graph);
  return folded;
}

}  // namespace morton::passes
