// SPDX-License-Identifier: Apache-2.0
#include "passes/sparse_filters.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// One number for each channel, by a constant that broadcasts so against an image.
std::optional<std::vector<double>> by_channel(const Tensor* data) {
  if (data == nullptr || data->dtype() != DType::f32) return {};
  const Shape& shape = data->shape();
  const std::size_t rank = shape.size();
  if (rank != 3 && (rank != 4 || shape[0] != 1)) return {};
  if (shape[rank - 2] != 1 || shape[rank - 1] != 1) return {};
  std::vector<double> values;
  for (std::int64_t c = 0; c < data->size(); ++c) values.push_back(data->at(c));
  return values;
}

/// The only reader of a node's result, if it is `op` with a constant for each channel.
struct ByChannel {
  NodeId node;
  std::vector<double> values;
};

std::optional<ByChannel> reader_by_channel(const Graph& graph, TensorId id, const char* op) {
  const NodeId reader = sole_reader(graph, id);
  if (!reader || graph.node(reader).op != op) return {};
  const Node& node = graph.node(reader);
  if (!node.epilogue.is_identity() || node.inputs.size() != 2) return {};
  const auto values = by_channel(constant_data(graph, node.inputs[node.inputs[0] == id ? 1 : 0]));
  if (!values) return {};
  return ByChannel{reader, *values};
}

bool is_plain_pool(const Node& node) {
  const auto pads = integers_of(node, "pads", {});
  const auto dilations = integers_of(node, "dilations", {});
  const std::string mode = text_of(node, "auto_pad", "NOTSET");
  return node.op == "AveragePool" && node.epilogue.is_identity() &&
         integers_of(node, "kernel_shape", {}).size() == 2 &&
         std::ranges::all_of(pads, [](auto pad) { return pad == 0; }) &&
         std::ranges::all_of(dilations, [](auto step) { return step == 1; }) &&
         (mode == "NOTSET" || mode == "VALID") && integer_of(node, "ceil_mode", 0) == 0;
}

/// Channels of an image, as far as a Conv's filters or an input before it say; 0 where nothing
/// does.
std::int64_t channels_of(const Graph& graph, TensorId id) {
  static const std::set<std::string> kKeepChannels{"Tanh",    "Relu",        "Sigmoid",  "Elu",
                                                   "MaxPool", "AveragePool", "LeakyRelu"};
  for (;;) {
    const GraphTensor& tensor = graph.tensor(id);
    if (tensor.declared.size() == 4 && tensor.declared[1].symbol.empty()) {
      return tensor.declared[1].value;
    }
    if (tensor.shape.size() == 4) return tensor.shape[1];
    const NodeId producer = graph.producer(id);
    if (!producer) return 0;
    const Node& node = graph.node(producer);
    if (node.op == "Conv") {
      const Tensor* filters = constant_data(graph, node.inputs[1]);
      return filters == nullptr || filters->shape().empty() ? 0 : filters->shape()[0];
    }
    if (!kKeepChannels.contains(node.op)) return 0;
    id = node.inputs[0];
  }
}

Tensor sparse_filters(const std::vector<double>& scale, std::int64_t height, std::int64_t width) {
  const auto channels = static_cast<std::int64_t>(scale.size());
  Tensor filters = Tensor::allocate(DType::f32, {channels, channels, height, width});
  const std::int64_t window = height * width;
  for (std::int64_t i = 0; i < filters.size(); ++i) {
    const std::int64_t o = i / (channels * window);
    const bool own = i / window % channels == o;
    filters.set(i, own ? scale[static_cast<std::size_t>(o)] / static_cast<double>(window) : 0.0);
  }
  return filters;
}

Tensor vector_of(const std::vector<double>& values) {
  Tensor tensor = Tensor::allocate(DType::f32, {static_cast<std::int64_t>(values.size())});
  for (std::size_t c = 0; c < values.size(); ++c) {
    tensor.set(static_cast<std::int64_t>(c), values[c]);
  }
  return tensor;
}

/// Makes node `n` a Conv if it can be; the nodes behind it that the Conv replaces go to `gone`.
bool spread(Graph& graph, NodeId n, std::set<NodeId>& gone) {
  const Node pool = graph.node(n);
  if (!is_plain_pool(pool)) return false;
  const auto scale = reader_by_channel(graph, pool.outputs[0], "Mul");
  if (!scale) return false;
  // A single factor, or one image of several factors, has other channels before than behind.
  if (channels_of(graph, pool.inputs[0]) != static_cast<std::int64_t>(scale->values.size())) {
    return false;
  }
  TensorId result = graph.node(scale->node).outputs[0];
  const auto kernel = integers_of(pool, "kernel_shape", {});
  Node conv{.op = "Conv", .name = pool.name, .inputs = {pool.inputs[0]}};
  conv.attributes["kernel_shape"] = kernel;
  conv.attributes["strides"] = integers_of(pool, "strides", {1, 1});
  conv.inputs.push_back(add_constant(graph, pool.name + ".filters",
                                     sparse_filters(scale->values, kernel[0], kernel[1])));
  gone.insert(scale->node);
  const auto bias = reader_by_channel(graph, result, "Add");
  if (bias && bias->values.size() == scale->values.size()) {
    conv.inputs.push_back(add_constant(graph, pool.name + ".biases", vector_of(bias->values)));
    result = graph.node(bias->node).outputs[0];
    gone.insert(bias->node);
  }
  conv.outputs = {result};
  graph.node(n) = std::move(conv);
  return true;
}

}  // namespace

int spread_subsampling(Graph& graph) {
  int changed = 0;
  std::set<NodeId> gone;
  for (NodeId n(0); has_node(graph, n); n = n.moved(1)) {
    if (spread(graph, n, gone)) ++changed;
  }
  for (auto node = gone.rbegin(); node != gone.rend(); ++node) {
    remove_node(graph, *node);
  }
  return changed;
}

}  // namespace morton::passes
