// SPDX-License-Identifier: Apache-2.0
#include "ops/core/partial_reference.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {
namespace {

bool is_known(const Graph& graph, const KnownValues& known, TensorId id) {
  return known.contains(id) || graph.tensor(id).kind != GraphTensor::Kind::activation;
}

/// The nodes between the known tensors and `target`, in order.
std::set<NodeId> nodes_before(const Graph& graph, TensorId target, const KnownValues& known) {
  std::set<NodeId> nodes;
  std::vector<TensorId> open{target};
  while (!open.empty()) {
    const NodeId n = graph.producer(open.back());
    open.pop_back();
    if (!n || !nodes.insert(n).second) continue;
    for (const TensorId id : graph.node(n).inputs) {
      if (id != kNoTensor && !is_known(graph, known, id)) open.push_back(id);
    }
  }
  return nodes;
}

/// A product whose output channels are independent of each other.
struct PlainProduct {
  NodeId node;
  std::size_t axis = 0;  ///< of the channels in its result
  std::int64_t multiplications = 0;
};

/// The node as a product; nothing where it is none, or its channels are in groups.
std::optional<PlainProduct> plain_product_of(const Graph& graph, NodeId n) {
  const Node& node = graph.node(n);
  const NodeView view(graph, node);
  if (!view.has_input(0) || !view.has_input(1) || node.outputs.size() != 1) return {};
  const Shape& result = graph.tensor(node.outputs[0]).shape;
  const Shape& lhs = graph.tensor(node.inputs[0]).shape;
  const Shape& rhs = graph.tensor(node.inputs[1]).shape;
  const std::int64_t results = element_count(result);
  const bool convolves = node.op == "Conv" || node.op == "ConvTranspose";
  if (convolves && (view.integer("group", 1) != 1 || results == 0)) return {};
  if (node.op == "Conv") return PlainProduct{n, 1, results * (element_count(rhs) / rhs[0])};
  if (node.op == "ConvTranspose") {
    return PlainProduct{n, 1, element_count(lhs) * (element_count(rhs) / rhs[0])};
  }
  if (node.op == "Gemm") {
    return PlainProduct{n, 1, results * rhs[view.integer("transB", 0) == 1 ? 1 : 0]};
  }
  if (node.op != "MatMul" || rhs.size() < 2) return {};
  return PlainProduct{n, result.size() - 1, results * lhs.back()};
}

/// True for nodes that compute each channel of their result from the same channel of the inputs.
bool keeps_channels(const Graph& graph, const Node& node, const Shape& shape, std::size_t axis) {
  if (node.outputs.size() != 1 || graph.tensor(node.outputs[0]).shape != shape) return false;
  const Operator& op = operator_of(node);
  return op.chain != nullptr || (node.op == "BatchNormalization" && axis == 1) ||
         node.op == "Identity" || node.op == "Dropout";
}

/// As many channels as fit the limit, at least one, drawn without repetition.
std::vector<std::int64_t> draw(std::int64_t channels, std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> all;
  for (std::int64_t c = 0; c < channels; ++c) all.push_back(c);
  std::mt19937_64 generator(seed);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    std::swap(all[i], all[i + generator() % (all.size() - i)]);
  }
  all.resize(static_cast<std::size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

/// Which part of the nodes' inputs is computed with.
struct Cut {
  NodeId product;
  ChannelChoice choice;
};

/// Nothing where all channels fit the limit, or where the nodes are more than one product and what
/// keeps its channels.
std::optional<Cut> cut_of(const Graph& graph, const std::set<NodeId>& nodes, TensorId target,
                          const SampleOptions& options) {
  if (options.most_multiplications == 0) return {};
  const auto product = plain_product_of(graph, *nodes.begin());
  if (!product || product->multiplications <= options.most_multiplications) return {};
  const Shape& shape = graph.tensor(target).shape;
  for (const NodeId n : nodes) {
    const Node& node = graph.node(n);
    const bool same = n == product->node ? graph.tensor(node.outputs[0]).shape == shape
                                         : keeps_channels(graph, node, shape, product->axis);
    if (!same) return {};
  }
  const std::int64_t channels = shape[product->axis];
  const std::int64_t each = std::max<std::int64_t>(product->multiplications / channels, 1);
  const std::int64_t count =
      std::clamp<std::int64_t>(options.most_multiplications / each, 1, channels);
  return Cut{product->node, {product->axis, draw(channels, count, options.seed)}};
}

/// The axis of input `i` of the product that holds its channels; nothing where none does.
std::optional<std::size_t> axis_of_operand(const Node& node, const Graph& graph, std::size_t i,
                                           std::int64_t channels) {
  const Shape& shape = graph.tensor(node.inputs[i]).shape;
  if (i == 0) return {};
  if (i == 2) {
    const bool holds = !shape.empty() && shape.back() == channels;
    return holds ? std::optional(shape.size() - 1) : std::nullopt;
  }
  if (node.op == "Conv") return 0;
  if (node.op == "ConvTranspose") return 1;
  if (node.op == "Gemm") {
    return NodeView(graph, node).integer("transB", 0) == 1 ? std::size_t{0} : std::size_t{1};
  }
  return shape.size() - 1;
}

/// The axis of an operand of a node behind the product that holds the channels.
std::optional<std::size_t> axis_of_side(const Node& node, const Graph& graph, std::size_t i,
                                        const Shape& result, std::size_t axis) {
  const Shape& shape = graph.tensor(node.inputs[i]).shape;
  if (node.op == "BatchNormalization" && i > 0) return 0;
  const std::size_t behind = result.size() - axis;
  if (shape.size() < behind || shape[shape.size() - behind] == 1) return {};
  return shape.size() - behind;
}

/// The nodes as a graph of their own, whose inputs are the known tensors or parts of them.
class Part {
 public:
  Part(const Graph& graph, const KnownValues& known, std::optional<Cut> cut,
       const TransformError& transform)
      : graph_(graph), known_(known), cut_(std::move(cut)), transform_(transform) {
    part_.opset = graph.opset;
  }

  void compute(NodeId n) {
    Node node = graph_.node(n);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) node.inputs[i] = operand(n, i);
    for (TensorId& id : node.outputs) {
      if (id == kNoTensor) continue;
      const TensorId own = part_.add_tensor({
          .name = graph_.tensor(id).name,
      });
      own_.emplace(id, own);
      id = own;
    }
    part_.nodes.push_back(node);
    const auto types = infer(part_, node);
    std::vector<ReferenceTensor> inputs;
    for (const TensorId id : node.inputs) {
      inputs.push_back(id == kNoTensor ? ReferenceTensor{} : operand_of(id));
    }
    std::vector<ReferenceTensor> results = references(part_, node, inputs);
    if (node.op == "Conv") widen(results.front(), transform_);
    for (std::size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (id == kNoTensor) continue;
      part_.tensor(id).dtype = types[i].dtype;
      part_.tensor(id).shape = types[i].shape;
      values_[id] = std::move(results[i]);
    }
  }

  [[nodiscard]] ReferenceTensor result(TensorId target) { return value_of(own_.at(target)); }

 private:
  const ReferenceTensor& value_of(TensorId own) {
    const auto found = values_.find(own);
    if (found != values_.end()) return found->second;
    return values_[own] = to_reference(given_.at(own));
  }

  /// What a node computes of 16 bits, a kernel that computes further with it need not round.
  ReferenceTensor operand_of(TensorId own) {
    ReferenceTensor value = value_of(own);
    const DType type = part_.tensor(own).dtype;
    if (given_.contains(own) || !is_short_real(type)) return value;
    const double unit = unit_roundoff(type);
    const double least = type == DType::f16 ? 0x1p-25 : 0.0;
    for (std::size_t i = 0; i < value.value.size(); ++i) {
      value.error[i] += std::max(std::fabs(value.value[i]) * unit, least);
    }
    return value;
  }

  /// Input `i` of node `n` as a tensor of the part.
  TensorId operand(NodeId n, std::size_t i) {
    const Node& node = graph_.node(n);
    const TensorId id = node.inputs[i];
    if (id == kNoTensor) return kNoTensor;
    if (const auto computed = own_.find(id); computed != own_.end()) return computed->second;
    GraphTensor tensor = graph_.tensor(id);
    Tensor value = given(id);
    if (const auto axis = axis_to_cut(n, i)) value = take(value, {*axis, cut_->choice.indices});
    tensor.name += "#" + std::to_string(part_.tensors.size());
    tensor.shape = value.shape();
    if (tensor.kind == GraphTensor::Kind::activation) tensor.kind = GraphTensor::Kind::input;
    if (tensor.kind == GraphTensor::Kind::constant) tensor.data = value;
    const TensorId own = part_.add_tensor(std::move(tensor));
    given_.emplace(own, std::move(value));
    return own;
  }

  [[nodiscard]] Tensor given(TensorId id) const {
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    const GraphTensor& tensor = graph_.tensor(id);
    if (tensor.kind == GraphTensor::Kind::constant || tensor.kind == GraphTensor::Kind::state) {
      return tensor.data;
    }
    throw UsageError("reference: no value for '" + tensor.name + "'");
  }

  [[nodiscard]] std::optional<std::size_t> axis_to_cut(NodeId n, std::size_t i) const {
    if (!cut_) return {};
    const Node& node = graph_.node(n);
    const Shape& result = graph_.tensor(node.outputs[0]).shape;
    const std::size_t axis = cut_->choice.axis;
    return n == cut_->product ? axis_of_operand(node, graph_, i, result[axis])
                              : axis_of_side(node, graph_, i, result, axis);
  }

  const Graph& graph_;
  const KnownValues& known_;
  std::optional<Cut> cut_;
  TransformError transform_;
  Graph part_;
  std::map<TensorId, TensorId> own_;  ///< the part's tensors, by the graph's
  std::map<TensorId, Tensor> given_;
  std::map<TensorId, ReferenceTensor> values_;
};

}  // namespace

Tensor take(const Tensor& tensor, const ChannelChoice& choice) {
  Shape shape = tensor.shape();
  const std::int64_t channels = shape.at(choice.axis);
  std::int64_t inner = size_of(tensor.dtype());
  for (std::size_t d = choice.axis + 1; d < shape.size(); ++d) inner *= shape[d];
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < choice.axis; ++d) outer *= shape[d];
  shape[choice.axis] = static_cast<std::int64_t>(choice.indices.size());
  Tensor part = Tensor::allocate(tensor.dtype(), shape);
  std::byte* to = part.mutable_data();
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const std::int64_t c : choice.indices) {
      to = std::copy_n(tensor.data() + (o * channels + c) * inner, inner, to);
    }
  }
  return part;
}

PartialReference partial_reference(const Graph& graph, TensorId target, const KnownValues& known,
                                   const SampleOptions& options) {
  const std::set<NodeId> nodes = nodes_before(graph, target, known);
  const auto cut = cut_of(graph, nodes, target, options);
  PartialReference result;
  if (cut) result.channels = cut->choice;
  Part part(graph, known, cut, options.transform);
  for (const NodeId n : nodes) {
    part.compute(n);
    result.nodes.push_back(graph.node(n).name);
  }
  result.value = part.result(target);
  return result;
}

}  // namespace morton::ops
