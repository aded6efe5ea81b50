// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/rooms.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// What a normalisation does to channel c in inference: x * scale[c] + shift[c].
struct Affine {
  std::vector<double> scale, shift;
};

/// Of a BatchNormalization whose parameters are constants; nothing for any other node.
std::optional<Affine> affine_of(const Graph& graph, const Node& node) {
  if (node.op != "BatchNormalization" || node.inputs.size() != 5 || node.outputs.size() != 1 ||
      !node.epilogue.is_identity() || integer_of(node, "training_mode", 0) != 0 ||
      integer_of(node, "spatial", 1) != 1) {
    return {};
  }
  const Tensor* parameters[4];
  for (std::size_t i = 0; i < 4; ++i) {
    parameters[i] = constant_data(graph, node.inputs[i + 1]);
    if (parameters[i] == nullptr || parameters[i]->dtype() != DType::f32 ||
        parameters[i]->size() != parameters[0]->size()) {
      return {};
    }
  }
  const double epsilon = real_of(node, "epsilon", 1e-5);
  Affine affine;
  for (std::int64_t c = 0; c < parameters[0]->size(); ++c) {
    const double scale = parameters[0]->at(c) / std::sqrt(parameters[3]->at(c) + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back(parameters[1]->at(c) - parameters[2]->at(c) * scale);
  }
  return affine;
}

/// How the weights of a node hold its outputs' channels: runs of `block` elements, whose channels
/// take turns. Each group, a stretch of the weights, has channels of its own.
struct Channels {
  std::int64_t count = 0;   ///< of all groups
  std::int64_t block = 1;   ///< neighbours of one channel
  std::int64_t groups = 1;  ///< in the outermost dimension of the weights
};

/// Nothing where the node is none whose weights can take a factor for each channel of dimension 1.
std::optional<Channels> channels_of(const Node& node, const Shape& weights) {
  const std::int64_t elements = element_count(weights);
  if (node.op == "Conv") return Channels{weights[0], elements / weights[0], 1};
  if (node.op == "ConvTranspose") {
    const std::int64_t groups = integer_of(node, "group", 1);
    return Channels{weights[1] * groups, elements / weights[0] / weights[1], groups};
  }
  const bool plain = real_of(node, "alpha", 1.0) == 1.0 && real_of(node, "beta", 1.0) == 1.0;
  if (node.op != "Gemm" || !plain) return {};
  if (integer_of(node, "transB", 0) == 1) return Channels{weights[0], weights[1], 1};
  return Channels{weights[1], 1, 1};
}

Tensor scaled(const Tensor& weights, const Channels& channels, const std::vector<double>& scale) {
  Tensor result = Tensor::allocate(DType::f32, weights.shape());
  const std::byte* from = weights.stored();
  float* to = result.as_mutable<float>().data();
  const std::int64_t per_group = channels.count / channels.groups;
  const std::int64_t runs = weights.size() / channels.groups / channels.block;
  for (std::int64_t group = 0; group < channels.groups; ++group) {
    std::int64_t turn = 0;
    for (std::int64_t run = 0; run < runs; ++run) {
      const double factor = scale[static_cast<std::size_t>(group * per_group + turn)];
      for (std::int64_t i = 0; i < channels.block; ++i, from += sizeof(float)) {
        float weight = 0.0F;
        std::memcpy(&weight, from, sizeof weight);
        *to++ = static_cast<float>(weight * factor);
      }
      if (++turn == per_group) turn = 0;
    }
  }
  return result;
}

/// The node's biases, one for each channel; nothing where they are neither absent nor such.
std::optional<std::vector<double>> biases_of(const Graph& graph, const Node& node,
                                             std::int64_t channels) {
  std::vector<double> biases(static_cast<std::size_t>(channels), 0.0);
  if (node.inputs.size() < 3 || node.inputs[2] == kNoTensor) return biases;
  const Tensor* data = constant_data(graph, node.inputs[2]);
  if (data == nullptr || data->dtype() != DType::f32 || data->shape() != Shape{channels}) return {};
  for (std::int64_t c = 0; c < channels; ++c) biases[static_cast<std::size_t>(c)] = data->at(c);
  return biases;
}

Tensor to_tensor(const std::vector<double>& values, const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensor.set(static_cast<std::int64_t>(i), values[i]);
  }
  return tensor;
}

/// (W x + b) * scale + shift = (W * scale) x + (b * scale + shift). Rounded once to f32.
bool fold_into_producer(Graph& graph, NodeId n, const Affine& affine) {
  const Node& norm = graph.node(n);
  const NodeId producer = graph.producer(norm.inputs[0]);
  if (!producer || sole_reader(graph, norm.inputs[0]) != n) return false;
  const Node& first = graph.node(producer);
  const Tensor* weights = first.inputs.size() < 2 ? nullptr : constant_data(graph, first.inputs[1]);
  if (weights == nullptr || weights->dtype() != DType::f32 || weights->shape().size() < 2 ||
      weights->size() == 0 || !first.epilogue.is_identity()) {
    return false;
  }
  const auto channels = channels_of(first, weights->shape());
  if (!channels || channels->count != static_cast<std::int64_t>(affine.scale.size())) return false;
  auto biases = biases_of(graph, first, channels->count);
  if (!biases) return false;
  for (std::size_t c = 0; c < biases->size(); ++c) {
    (*biases)[c] = (*biases)[c] * affine.scale[c] + affine.shift[c];
  }
  const std::string name = graph.tensor(first.inputs[1]).name;
  Tensor product = scaled(*weights, *channels, affine.scale);
  const TensorId new_weights = add_constant(graph, name + ".normalised", std::move(product));
  const TensorId new_biases =
      add_constant(graph, norm.name + ".shift", to_tensor(*biases, {channels->count}));
  Node& changed = graph.node(producer);
  changed.inputs.resize(2);
  changed.inputs[1] = new_weights;
  changed.inputs.push_back(new_biases);
  changed.fused.push_back(norm.name);
  changed.outputs = norm.outputs;
  remove_node(graph, n);
  return true;
}

/// A Conv without padding behind the normalisation: each of its sums then holds every shift.
bool fold_into_reader(Graph& graph, NodeId n, const Affine& affine) {
  const Node norm = graph.node(n);
  const NodeId reader = sole_reader(graph, norm.outputs[0]);
  if (!reader) return false;
  const Node& conv = graph.node(reader);
  const auto pads = integers_of(conv, "pads", {});
  const bool padded = std::any_of(pads.begin(), pads.end(), [](auto pad) { return pad != 0; });
  const std::string mode = text_of(conv, "auto_pad", "NOTSET");
  const Tensor* weights = conv.inputs.size() < 2 ? nullptr : constant_data(graph, conv.inputs[1]);
  if (conv.op != "Conv" || conv.inputs[0] != norm.outputs[0] || padded ||
      (mode != "NOTSET" && mode != "VALID") || weights == nullptr ||
      weights->dtype() != DType::f32 || weights->size() == 0 || !conv.epilogue.is_identity()) {
    return false;
  }
  const Shape shape = weights->shape();
  auto biases = biases_of(graph, conv, shape[0]);
  const std::int64_t groups = integer_of(conv, "group", 1);
  if (!biases || shape[1] * groups != static_cast<std::int64_t>(affine.scale.size())) return false;
  Tensor product = Tensor::allocate(DType::f32, shape);
  const std::int64_t block = weights->size() / shape[0] / shape[1];
  for (std::int64_t i = 0; i < weights->size(); ++i) {
    const std::int64_t o = i / (block * shape[1]);
    const auto c =
        static_cast<std::size_t>(o / (shape[0] / groups) * shape[1] + i / block % shape[1]);
    product.set(i, weights->at(i) * affine.scale[c]);
    (*biases)[static_cast<std::size_t>(o)] += weights->at(i) * affine.shift[c];
  }
  const std::string name = graph.tensor(conv.inputs[1]).name;
  const TensorId new_weights = add_constant(graph, name + ".normalised", std::move(product));
  const TensorId new_biases =
      add_constant(graph, norm.name + ".shift", to_tensor(*biases, {shape[0]}));
  Node& changed = graph.node(reader);
  changed.inputs = {norm.inputs[0], new_weights, new_biases};
  changed.fused.push_back(norm.name);
  remove_node(graph, n);
  return true;
}

/// A product and a sum with constants, which fusion puts behind whatever stands before them.
void make_elementwise(Graph& graph, NodeId n, const Affine& affine) {
  const Node norm = graph.node(n);
  const GraphTensor source = graph.tensor(norm.inputs[0]);
  Shape shape(source.shape.size() - 1, 1);
  shape[0] = static_cast<std::int64_t>(affine.scale.size());
  const TensorId scale = add_constant(graph, norm.name + ".scale", to_tensor(affine.scale, shape));
  const TensorId shift = add_constant(graph, norm.name + ".shift", to_tensor(affine.shift, shape));
  const TensorId scaled_input =
      add_activation(graph, norm.name + ".scaled", source.dtype, source.shape);
  Node product{.op = "Mul",
               .name = unused_node_name(graph, norm.name + ".scaled"),
               .inputs = {norm.inputs[0], scale},
               .outputs = {scaled_input}};
  Node sum{
      .op = "Add", .name = norm.name, .inputs = {scaled_input, shift}, .outputs = norm.outputs};
  graph.node(n) = std::move(product);
  insert_behind(graph, n, std::move(sum));
}

}  // namespace

int fold_batch_norms(Graph& graph, const PassOptions& /*options*/) {
  int folded = 0;
  for (NodeId n(0); has_node(graph, n);) {
    const auto affine = affine_of(graph, graph.node(n));
    if (!affine) {
      n = n.moved(1);
      continue;
    }
    ++folded;
    if (fold_into_producer(graph, n, *affine) || fold_into_reader(graph, n, *affine)) continue;
    make_elementwise(graph, n, *affine);
    n = n.moved(1);
  }
  return folded;
}

}  // namespace morton::passes
