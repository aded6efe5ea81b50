// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/quantized_layers.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "passes/rewrite.hpp"

namespace morton::api {
namespace {

using passes::constant_data;

/// The dimension of `node`'s weights along which its results' channels lie; nothing where the node
/// is no layer.
std::optional<std::size_t> channel_of(const Node& node, const Shape& weights) {
  if (node.op == "Conv" && weights.size() >= 3) return 0;
  if (weights.size() != 2) return {};
  if (node.op == "Gemm") return passes::integer_of(node, "transB", 0) != 0 ? 0 : 1;
  if (node.op == "MatMul") return 1;
  return {};
}

bool is_plain_gemm(const Node& node) {
  return passes::real_of(node, "alpha", 1.0) == 1.0 && passes::real_of(node, "beta", 1.0) == 1.0;
}

/// Fusion puts such a node into the layer before it: its result has the code, not the sums.
TensorId behind_activation(const Graph& graph, TensorId result) {
  const NodeId reader = passes::sole_reader(graph, result);
  if (!passes::has_node(graph, reader) || graph.is_result(result)) return result;
  const Node& node = graph.node(reader);
  const bool joins = (node.op == "Relu" || node.op == "Clip") && node.inputs.front() == result;
  return joins ? node.outputs.front() : result;
}

}  // namespace

std::vector<WeightLayer> weight_layers(const Graph& graph) {
  std::vector<WeightLayer> layers;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.inputs.size() < 2 || node.outputs.empty()) continue;
    const Tensor* weights = constant_data(graph, node.inputs[1]);
    if (weights == nullptr || weights->dtype() != DType::f32) continue;
    if (node.inputs[0] == kNoTensor || constant_data(graph, node.inputs[0]) != nullptr) continue;
    const auto channel = channel_of(node, weights->shape());
    if (!channel) continue;
    WeightLayer layer{.node = n,
                      .input = node.inputs[0],
                      .weights = node.inputs[1],
                      .channel = *channel,
                      .result = behind_activation(graph, node.outputs.front())};
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoTensor;
    const bool may_have = node.op == "Conv" || (node.op == "Gemm" && is_plain_gemm(node));
    layer.takes_bias = may_have && !has_bias;
    if (has_bias && may_have) {
      const Tensor* bias = constant_data(graph, node.inputs[2]);
      const Shape each{weights->shape()[*channel]};
      if (bias != nullptr && bias->dtype() == DType::f32 && bias->shape() == each) {
        layer.bias = node.inputs[2];
        layer.takes_bias = true;
      }
    }
    layers.push_back(layer);
  }
  return layers;
}

TensorId with_activation(Graph& graph, const WeightLayer& layer, TensorId result) {
  if (graph.nodes[layer.node].outputs.front() == layer.result) return result;
  Node twin = graph.node(graph.producer(layer.result));
  twin.name = passes::unused_node_name(graph, twin.name + "_of_rounded");
  twin.inputs.front() = result;
  twin.outputs = {passes::add_activation(graph, graph.tensor(layer.result).name + "_of_rounded",
                                         DType::f32, {})};
  graph.nodes.push_back(std::move(twin));
  return graph.nodes.back().outputs.front();
}

bool only_moves_values(const Node& node) {
  constexpr std::array<std::string_view, 8> kMoves{"MaxPool", "Reshape",   "Flatten",  "Transpose",
                                                   "Squeeze", "Unsqueeze", "Identity", "Dropout"};
  return std::ranges::find(kMoves, node.op) != kMoves.end();
}

}  // namespace morton::api
