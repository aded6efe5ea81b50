// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "ops/core/graph_writer.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

constexpr std::int64_t kMostTerms = std::numeric_limits<std::int32_t>::max() / (255 * 255);

/// What DequantizeLinear makes of codes: (codes - zero) * scale.
struct Codes {
  TensorId codes = kNoTensor, scale = kNoTensor, zero = kNoTensor;
};

/// The codes behind `id`, where it is f32 made of codes of `type`s with scales of f32, one for all
/// or, with `axis`, one for each of its lines.
std::optional<Codes> codes_of(const Graph& graph, TensorId id, std::optional<std::int64_t> axis) {
  if (id == kNoTensor) return {};
  const NodeId producer = graph.producer(id);
  if (!producer) return {};
  const Node& node = graph.node(producer);
  if (node.op != "DequantizeLinear" || !node.epilogue.is_identity()) return {};
  const GraphTensor& codes = graph.tensor(node.inputs[0]);
  const GraphTensor& scale = graph.tensor(node.inputs[1]);
  if (graph.tensor(id).dtype != DType::f32 || scale.dtype != DType::f32) return {};
  if (integer_of(node, "block_size", 0) != 0) return {};
  if (element_count(scale.shape) != 1) {
    const auto rank = static_cast<std::int64_t>(codes.shape.size());
    std::int64_t along = integer_of(node, "axis", 1);
    if (along < 0) along += rank;
    if (!axis || along != *axis) return {};
  }
  Codes found{node.inputs[0], node.inputs[1]};
  if (node.inputs.size() > 2) found.zero = node.inputs[2];
  return found;
}

/// A tensor of one element as one without dimensions.
TensorId single(ops::GraphWriter& to, TensorId id) {
  return id == kNoTensor || to.shape_of(id).empty() ? id : to.reshaped(id, {});
}

/// Numbers for each output channel in the shape in which they broadcast to the result.
TensorId by_channel(ops::GraphWriter& to, TensorId id, std::size_t behind) {
  if (element_count(to.shape_of(id)) == 1) return single(to, id);
  Shape shape(behind + 1, 1);
  shape[0] = element_count(to.shape_of(id));
  return to.reshaped(id, shape);
}

/// A convolution or a product of numbers that are codes.
struct Layer {
  Codes lhs, rhs;
  std::int64_t terms = 0;
  std::size_t behind = 0;  ///< dimensions of the result behind that of the output channels
};

std::optional<Layer> layer_of(const Graph& graph, const Node& node) {
  const bool is_conv = node.op == "Conv";
  const bool is_gemm = node.op == "Gemm";
  if (!is_conv && !is_gemm && node.op != "MatMul") return {};
  const Shape& weights = graph.tensor(node.inputs[1]).shape;
  const bool turned = is_gemm && integer_of(node, "transB", 0) != 0;
  const auto last = static_cast<std::int64_t>(weights.size()) - 1;
  const auto lhs = codes_of(graph, node.inputs[0], {});
  const auto rhs = codes_of(graph, node.inputs[1], is_conv || turned ? 0 : last);
  if (!lhs || !rhs || !is_byte(graph.tensor(lhs->codes).dtype)) return {};
  if (!is_byte(graph.tensor(rhs->codes).dtype)) return {};
  if (constant_data(graph, rhs->codes) == nullptr) return {};
  Layer layer{*lhs, *rhs};
  if (is_conv) {
    if (weights.size() > 4) return {};
    layer.terms = element_count(weights) / weights[0];
    layer.behind = weights.size() - 2;
  } else {
    if (weights.size() != 2) return {};
    const bool is_plain = integer_of(node, "transA", 0) == 0 &&
                          real_of(node, "alpha", 1.0) == 1.0 && real_of(node, "beta", 1.0) == 1.0;
    if (is_gemm && !is_plain) return {};
    layer.terms = weights[turned ? 1 : 0];
  }
  return layer.terms <= kMostTerms ? std::optional(layer) : std::nullopt;
}

/// What stands behind a layer up to the codes of its result.
struct Tail {
  NodeId quantize;
  NodeId clip;  ///< a Relu between the two; none
  TensorId bias = kNoTensor;
};

/// Whether numbers are scales that QLinearConv takes: above 0 and finite, where they are known.
bool are_scales(const Graph& graph, TensorId id) {
  const Tensor* known = constant_data(graph, id);
  for (std::int64_t i = 0; known != nullptr && i < known->size(); ++i) {
    if (!(known->at(i) > 0.0) || !std::isfinite(known->at(i))) return false;
  }
  return true;
}

/// Whether sums and a bias of these codes fit 32 bits.
bool fits_sums(const Graph& graph, const Layer& layer, TensorId bias) {
  const Tensor* codes = constant_data(graph, bias);
  if (codes == nullptr) return false;
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  const double left = kMost - static_cast<double>(layer.terms) * 255.0 * 255.0;
  for (std::int64_t i = 0; i < codes->size(); ++i) {
    if (std::abs(codes->at(i)) > left) return false;
  }
  return true;
}

/// Whether the numbers of `bias` are those of sums: a step is the product of the layer's scales.
bool has_steps_of_sums(const Graph& graph, const Layer& layer, const Codes& bias) {
  const Tensor* steps = constant_data(graph, bias.scale);
  const Tensor* lhs = constant_data(graph, layer.lhs.scale);
  const Tensor* rhs = constant_data(graph, layer.rhs.scale);
  if (steps == nullptr || lhs == nullptr || rhs == nullptr || lhs->size() != 1) return false;
  if (graph.tensor(bias.codes).dtype != DType::i32) return false;
  const Tensor* zero = constant_data(graph, bias.zero);
  if (bias.zero != kNoTensor && zero == nullptr) return false;
  for (std::int64_t i = 0; zero != nullptr && i < zero->size(); ++i) {
    if (zero->at(i) != 0.0) return false;
  }
  const std::int64_t count = std::max(steps->size(), rhs->size());
  for (std::int64_t i = 0; i < count; ++i) {
    const double wanted = lhs->at(0) * rhs->at(rhs->size() == 1 ? 0 : i);
    const double step = steps->at(steps->size() == 1 ? 0 : i);
    if (std::abs(step - wanted) > 1e-6 * std::abs(wanted)) return false;
  }
  return true;
}

/// The tail of a convolution whose result becomes codes at once, with scales that are known.
std::optional<Tail> tail_of(const Graph& graph, const Node& node, const Layer& layer) {
  Tail tail;
  if (!are_scales(graph, layer.lhs.scale) || !are_scales(graph, layer.rhs.scale)) return {};
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoTensor;
  if (has_bias) {
    const auto bias = codes_of(graph, node.inputs[2], 0);
    if (!bias || !has_steps_of_sums(graph, layer, *bias)) return {};
    if (!fits_sums(graph, layer, bias->codes)) return {};
    tail.bias = bias->codes;
  }
  NodeId reader = sole_reader(graph, node.outputs[0]);
  if (!reader) return {};
  if (graph.node(reader).op == "Relu") {
    tail.clip = reader;
    reader = sole_reader(graph, graph.node(reader).outputs[0]);
    if (!reader) return {};
  }
  const Node& last = graph.node(reader);
  if (last.op != "QuantizeLinear" || last.inputs.size() < 3 || last.inputs[2] == kNoTensor)
    return {};
  const Tensor* scale = constant_data(graph, last.inputs[1]);
  const Tensor* zero = constant_data(graph, last.inputs[2]);
  if (scale == nullptr || scale->size() != 1 || scale->dtype() != DType::f32) return {};
  if (!are_scales(graph, last.inputs[1])) return {};
  if (zero == nullptr || zero->size() != 1 || !is_byte(zero->dtype())) return {};
  if (!is_byte(graph.tensor(last.outputs[0]).dtype)) return {};
  tail.quantize = reader;
  return tail;
}

std::vector<TensorId> without_absent(std::vector<TensorId> inputs) {
  while (inputs.back() == kNoTensor) inputs.pop_back();
  return inputs;
}

TensorId zero_or(ops::GraphWriter& to, TensorId zero, DType type) {
  return zero != kNoTensor ? zero : to.scalar(type, 0.0);
}

/// QLinearConv, and where a Relu stood between, the larger of its codes and that of 0.
TensorId quantised_layer(ops::GraphWriter& to, const Node& node, const Layer& layer,
                         const Tail& tail) {
  Graph& graph = to.graph();
  const Node last = graph.node(tail.quantize);
  const TensorId zero_lhs = zero_or(to, layer.lhs.zero, to.type_of(layer.lhs.codes));
  const TensorId zero_rhs = zero_or(to, layer.rhs.zero, to.type_of(layer.rhs.codes));
  const TensorId codes =
      to.add("QLinearConv",
             without_absent({layer.lhs.codes, layer.lhs.scale, zero_lhs, layer.rhs.codes,
                             layer.rhs.scale, zero_rhs, last.inputs[1], last.inputs[2], tail.bias}),
             node.attributes);
  const Tensor* zero = constant_data(graph, last.inputs[2]);
  const double least = to.type_of(codes) == DType::u8 ? 0.0 : -128.0;
  if (!tail.clip || zero->at(0) == least) return codes;
  Chain kept;
  kept.append(ScalarOp::max, {ScalarRef::input(0), ScalarRef::constant(zero->at(0))});
  return to.chain(kept, {codes});
}

/// The sums of the codes times both scales, and the bias.
TensorId real_layer(ops::GraphWriter& to, const Node& node, const Layer& layer) {
  TensorId rhs = layer.rhs.codes;
  const TensorId zero_lhs = single(to, layer.lhs.zero);
  TensorId sums = kNoTensor;
  if (node.op == "Conv") {
    sums = to.add("ConvInteger", without_absent({layer.lhs.codes, rhs, zero_lhs, layer.rhs.zero}),
                  node.attributes);
  } else {
    if (integer_of(node, "transB", 0) != 0) rhs = to.transposed(rhs, {1, 0});
    sums =
        to.add("MatMulInteger", without_absent({layer.lhs.codes, rhs, zero_lhs, layer.rhs.zero}));
  }
  Chain scaled;
  scaled.input_count = 2;
  const ScalarRef real = scaled.append_conversion(ScalarOp::cast, ScalarRef::input(0), DType::f32);
  scaled.append(ScalarOp::mul, {real, ScalarRef::input(1)});
  const TensorId rhs_scale = by_channel(to, layer.rhs.scale, layer.behind);
  const TensorId scale = to.apply(ScalarOp::mul, {rhs_scale, single(to, layer.lhs.scale)});
  const TensorId result = to.chain(scaled, {sums, scale});
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoTensor;
  if (!has_bias) return result;
  const bool is_conv = node.op == "Conv";
  const TensorId bias = is_conv ? by_channel(to, node.inputs[2], layer.behind) : node.inputs[2];
  return to.apply(ScalarOp::add, {result, bias});
}

/// Writes the layer in codes.
void rewrite(Graph& graph, NodeId n, const Layer& layer) {
  const Node node = graph.node(n);
  const auto tail = node.op == "Conv" ? tail_of(graph, node, layer) : std::nullopt;
  const TensorId result = tail ? graph.node(tail->quantize).outputs[0] : node.outputs[0];
  ops::GraphWriter to(graph, node.name.empty() ? node.op : node.name);
  const TensorId computed =
      tail ? quantised_layer(to, node, layer, *tail) : real_layer(to, node, layer);
  replace_result(graph, result, computed);
}

}  // namespace

int compute_in_codes(Graph& graph, const PassOptions& options) {
  return rewrite_found(
      graph, options, [&](const Node& node) { return layer_of(graph, node); },
      [&](NodeId id, const Layer& layer) { rewrite(graph, id, layer); });
}

}  // namespace morton::passes
