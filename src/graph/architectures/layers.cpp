// SPDX-License-Identifier: Apache-2.0
#include "graph/architectures/layers.hpp"

#include <utility>

namespace morton::graph {
namespace {

using Integers = std::vector<std::int64_t>;

/// How far scales and statistics of a normalisation lie from 1 and 0.
constexpr double kDeviation = 0.1;

const Dimension kBatch{0, "batch"};

std::map<std::string, Attribute> attributes_of(const Filter& filter) {
  return {{"kernel_shape", Integers(2, filter.size)},
          {"strides", Integers(2, filter.stride)},
          {"pads", Integers(4, filter.pad)},
          {"group", filter.groups}};
}

}  // namespace

Layers::Layers(const Architecture& architecture, std::uint64_t seed, std::int64_t opset)
    : network_(std::string(architecture.name), seed, opset) {}

Image Layers::input(std::int64_t channels) {
  return {network_.input("input", {kBatch, {channels, ""}, {0, "height"}, {0, "width"}}), channels};
}

Image Layers::input(std::int64_t channels, std::int64_t size) {
  return {network_.input("input", {kBatch, {channels, ""}, {size, ""}, {size, ""}}), channels};
}

TensorId Layers::filters(const std::string& name, const Image& x, std::int64_t out,
                         const Filter& filter) {
  const std::int64_t depth = x.channels / filter.groups;
  return network_.weights(name + ".weight", {out, depth, filter.size, filter.size},
                          depth * filter.size * filter.size, filter.gain);
}

Image Layers::conv(const std::string& name, const Image& x, std::int64_t out,
                   const Filter& filter) {
  const TensorId weights = filters(name, x, out, filter);
  return {network_.node("Conv", name, {x.id, weights}, attributes_of(filter)), out};
}

Image Layers::conv_bias(const std::string& name, const Image& x, std::int64_t out,
                        const Filter& filter) {
  const TensorId weights = filters(name, x, out, filter);
  const TensorId biases = network_.biases(name + ".bias", {out});
  return {network_.node("Conv", name, {x.id, weights, biases}, attributes_of(filter)), out};
}

Image Layers::batch_norm(const std::string& name, const Image& x, double scale, double epsilon) {
  const Shape channels{x.channels};
  const TensorId scales = network_.normal(name + ".weight", channels, scale, kDeviation * scale);
  const TensorId shifts = network_.biases(name + ".bias", channels);
  const TensorId mean = network_.normal(name + ".running_mean", channels, 0.0, kDeviation);
  const TensorId variance = network_.positive(name + ".running_var", channels, kDeviation);
  return {network_.node("BatchNormalization", name, {x.id, scales, shifts, mean, variance},
                        {{"epsilon", epsilon}}),
          x.channels};
}

Image Layers::apply(const std::string& op, const std::string& name, const Image& x,
                    const std::map<std::string, Attribute>& attributes) {
  return {network_.node(op, name, {x.id}, attributes), x.channels};
}

TensorId Layers::scalar(const std::string& name, float value) {
  return network_.filled(name, {}, value);
}

Image Layers::relu6(const std::string& name, const Image& x) {
  const TensorId low = scalar(name + ".min", 0.0F);
  const TensorId high = scalar(name + ".max", 6.0F);
  return {network_.node("Clip", name, {x.id, low, high}), x.channels};
}

Image Layers::silu(const std::string& name, const Image& x) {
  const TensorId gate = network_.node("Sigmoid", name + "/Sigmoid", {x.id});
  return {network_.node("Mul", name + "/Mul", {x.id, gate}), x.channels};
}

Image Layers::max_pool(const std::string& name, const Image& x, std::int64_t size,
                       std::int64_t stride, std::int64_t pad) {
  return apply("MaxPool", name, x,
               {{"kernel_shape", Integers(2, size)},
                {"strides", Integers(2, stride)},
                {"pads", Integers(4, pad)}});
}

Image Layers::average_pool(const std::string& name, const Image& x, std::int64_t size) {
  return apply("AveragePool", name, x,
               {{"kernel_shape", Integers(2, size)}, {"strides", Integers(2, size)}});
}

Image Layers::add(const std::string& name, const Image& a, const Image& b) {
  return {network_.node("Add", name, {a.id, b.id}), a.channels};
}

Image Layers::concat(const std::string& name, const std::vector<Image>& parts) {
  std::vector<TensorId> ids;
  std::int64_t channels = 0;
  for (const Image& part : parts) {
    ids.push_back(part.id);
    channels += part.channels;
  }
  return {network_.node("Concat", name, ids, {{"axis", std::int64_t{1}}}), channels};
}

Image Layers::pool_to_rows(const std::string& name, const Image& x) {
  return apply("Flatten", "flatten", apply("GlobalAveragePool", name, x),
               {{"axis", std::int64_t{1}}});
}

Image Layers::dense(const std::string& name, const Image& x, std::int64_t out, double gain) {
  const TensorId weights = network_.weights(name + ".weight", {out, x.channels}, x.channels, gain);
  const TensorId biases = network_.biases(name + ".bias", {out});
  return {network_.node("Gemm", name, {x.id, weights, biases}, {{"transB", std::int64_t{1}}}), out};
}

void Layers::output_rows(const Image& x) { network_.output(x.id, {kBatch, {x.channels, ""}}); }

void Layers::output_image(const Image& x, const std::string& height, const std::string& width) {
  network_.output(x.id, {kBatch, {x.channels, ""}, {0, height}, {0, width}});
}

}  // namespace morton::graph
