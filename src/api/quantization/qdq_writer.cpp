// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/qdq_writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/rewrite.hpp"

namespace morton::api {
namespace {

constexpr float kMostCode = 127.0F;  // -128 has no counterpart, so it is left out

/// The number of the channel that each element belongs to: elements of one channel lie `inner`
/// apart in turns of `channels`.
struct ChannelPlaces {
  std::size_t channels = 1, inner = 1;
  [[nodiscard]] std::size_t of(std::size_t element) const { return element / inner % channels; }
};

ChannelPlaces places_of(const Shape& shape, std::size_t channel) {
  ChannelPlaces places{static_cast<std::size_t>(shape[channel]), 1};
  for (std::size_t d = channel + 1; d < shape.size(); ++d) {
    places.inner *= static_cast<std::size_t>(shape[d]);
  }
  return places;
}

std::vector<float> scales_for(const Tensor& weights, const ChannelPlaces& places) {
  std::vector<float> largest(places.channels, 0.0F);
  const auto values = weights.as<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    float& of_channel = largest[places.of(i)];
    of_channel = std::max(of_channel, std::abs(values[i]));
  }
  for (float& scale : largest) scale = scale > 0.0F ? scale / kMostCode : 1.0F;
  // What is too small for f32's normal numbers has a scale that rounds to nothing.
  for (float& scale : largest) scale = std::max(scale, std::numeric_limits<float>::min());
  return largest;
}

Tensor codes_of(const Tensor& weights, const ChannelPlaces& places,
                const std::vector<float>& scales) {
  Tensor codes = Tensor::allocate(DType::i8, weights.shape());
  const auto values = weights.as<float>();
  const auto to = codes.as_mutable<std::int8_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float steps = std::nearbyint(values[i] / scales[places.of(i)]);
    to[i] = static_cast<std::int8_t>(std::clamp(steps, -kMostCode, kMostCode));
  }
  return codes;
}

Tensor number(float value) { return Tensor::from({}, std::vector<float>{value}); }

}  // namespace

TensorId QdqWriter::add_node(std::string op, const std::string& name, std::vector<TensorId> inputs,
                             DType type, std::map<std::string, Attribute> attributes) {
  const TensorId result = passes::add_activation(graph_, name, type, {});
  graph_.nodes.push_back({.op = std::move(op),
                          .name = passes::unused_node_name(graph_, name),
                          .inputs = std::move(inputs),
                          .outputs = {result},
                          .attributes = std::move(attributes)});
  return result;
}

TensorId QdqWriter::rounded(TensorId tensor, const Code& code) {
  const std::string name = graph_.tensor(tensor).name;
  const TensorId scale =
      passes::add_constant(graph_, name + "_scale", number(static_cast<float>(code.scale)));
  Tensor zero_point = Tensor::allocate(DType::u8, {});
  zero_point.set(0, static_cast<double>(code.zero));
  const TensorId zero = passes::add_constant(graph_, name + "_zero_point", zero_point);
  const TensorId codes =
      add_node("QuantizeLinear", name + "_quantized", {tensor, scale, zero}, DType::u8);
  return add_node("DequantizeLinear", name + "_dequantized", {codes, scale, zero}, DType::f32);
}

void QdqWriter::round_everywhere(TensorId tensor, const Code& code) {
  const std::size_t before = graph_.nodes.size();
  const TensorId back = rounded(tensor, code);
  for (std::size_t n = 0; n < before; ++n) {
    std::ranges::replace(graph_.nodes[n].inputs, tensor, back);
  }
  if (!graph_.is_result(tensor)) return;
  // The result keeps its name, and what computes it gets another.
  GraphTensor computed = graph_.tensor(tensor);
  computed.name = passes::unused_tensor_name(graph_, computed.name + "_exact");
  computed.declared.clear();
  const TensorId exact = graph_.add_tensor(std::move(computed));
  for (std::size_t n = 0; n < before; ++n) {
    std::ranges::replace(graph_.nodes[n].outputs, tensor, exact);
    std::ranges::replace(graph_.nodes[n].inputs, back, tensor);
  }
  graph_.nodes[before].inputs[0] = exact;
  graph_.nodes[before + 1].outputs[0] = tensor;
}

QdqWriter::Weights& QdqWriter::weights_of(const WeightLayer& layer) {
  Weights& weights = weights_[{layer.weights, layer.channel}];
  if (weights.scales.empty()) {
    const Tensor& data = graph_.tensor(layer.weights).data;
    weights.scales = scales_for(data, places_of(data.shape(), layer.channel));
  }
  return weights;
}

void QdqWriter::leave_room(const WeightLayer& layer, const Code& input,
                           const std::vector<double>& bias) {
  constexpr double kMostCode = 1 << 30;
  std::vector<float>& scales = weights_of(layer).scales;
  for (std::size_t c = 0; c < std::min(scales.size(), bias.size()); ++c) {
    const double least = std::abs(bias[c]) / (input.scale * kMostCode);
    scales[c] = std::max(scales[c], static_cast<float>(least));
  }
}

std::vector<float> QdqWriter::scales_of(const WeightLayer& layer) {
  return weights_of(layer).scales;
}

TensorId QdqWriter::rounded_weights(const WeightLayer& layer) {
  Weights& weights = weights_of(layer);
  if (weights.rounded != kNoTensor) return weights.rounded;
  const std::string name = graph_.tensor(layer.weights).name;
  const Tensor data = graph_.tensor(layer.weights).data;
  const ChannelPlaces places = places_of(data.shape(), layer.channel);
  const Shape each{static_cast<std::int64_t>(places.channels)};
  const TensorId codes =
      passes::add_constant(graph_, name + "_quantized", codes_of(data, places, weights.scales));
  const TensorId scale =
      passes::add_constant(graph_, name + "_scale", Tensor::from(each, weights.scales));
  const TensorId zero =
      passes::add_constant(graph_, name + "_zero_point", Tensor::allocate(DType::i8, each));
  weights.rounded = add_node("DequantizeLinear", name + "_dequantized", {codes, scale, zero},
                             DType::f32, {{"axis", static_cast<std::int64_t>(layer.channel)}});
  return weights.rounded;
}

TensorId QdqWriter::rounded_bias(const WeightLayer& layer, const Code& input,
                                 const std::vector<double>& values) {
  std::vector<float> scales = scales_of(layer);
  const Shape each{static_cast<std::int64_t>(scales.size())};
  Tensor codes = Tensor::allocate(DType::i32, each);
  for (std::size_t c = 0; c < scales.size(); ++c) {
    scales[c] *= static_cast<float>(input.scale);
    codes.set(static_cast<std::int64_t>(c), std::nearbyint(values[c] / scales[c]));
  }
  const std::string name = graph_.nodes[layer.node].name + "_bias";
  const TensorId quantized = passes::add_constant(graph_, name + "_quantized", codes);
  const TensorId scale = passes::add_constant(graph_, name + "_scale", Tensor::from(each, scales));
  return add_node("DequantizeLinear", name + "_dequantized", {quantized, scale}, DType::f32,
                  {{"axis", std::int64_t{0}}});
}

}  // namespace morton::api
