// SPDX-License-Identifier: Apache-2.0
#include "graph/random_network.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace morton::graph {
namespace {

constexpr double kBiasDeviation = 0.1;

/// Above 0 and at most 1. std::uniform_real_distribution differs between libraries.
double uniform(std::mt19937_64& generator) {
  return (static_cast<double>(generator() >> 11) + 1.0) / 9007199254740992.0;  // 2^53
}

/// Normal with deviation 1, after Box and Muller.
double standard_normal(std::mt19937_64& generator) {
  const double radius = std::sqrt(-2.0 * std::log(uniform(generator)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform(generator));
}

}  // namespace

RandomNetwork::RandomNetwork(std::string name, std::uint64_t seed, std::int64_t opset)
    : generator_(seed) {
  graph_.opset = opset;
  graph_.name = std::move(name);
}

TensorId RandomNetwork::input(const std::string& name, std::vector<Dimension> extents,
                              DType dtype) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.dtype = dtype;
  tensor.kind = GraphTensor::Kind::input;
  tensor.declared = std::move(extents);
  const TensorId id = graph_.add_tensor(std::move(tensor));
  graph_.inputs.push_back(id);
  return id;
}

TensorId RandomNetwork::weights(const std::string& name, const Shape& shape, std::int64_t terms,
                                double gain) {
  return normal(name, shape, 0.0, std::sqrt(gain / static_cast<double>(terms)));
}

TensorId RandomNetwork::biases(const std::string& name, const Shape& shape) {
  return normal(name, shape, 0.0, kBiasDeviation);
}

TensorId RandomNetwork::filled(const std::string& name, const Shape& shape, float value) {
  Tensor data = Tensor::allocate(DType::f32, shape);
  for (float& element : data.as_mutable<float>()) element = value;
  return constant(name, std::move(data));
}

TensorId RandomNetwork::normal(const std::string& name, const Shape& shape, double mean,
                               double deviation) {
  Tensor data = Tensor::allocate(DType::f32, shape);
  for (float& value : data.as_mutable<float>()) {
    value = static_cast<float>(mean + deviation * standard_normal(generator_));
  }
  return constant(name, std::move(data));
}

TensorId RandomNetwork::truncated(const std::string& name, const Shape& shape, double deviation) {
  Tensor data = Tensor::allocate(DType::f32, shape);
  for (float& value : data.as_mutable<float>()) {
    double drawn = standard_normal(generator_);
    while (std::fabs(drawn) > 2.0) drawn = standard_normal(generator_);
    value = static_cast<float>(deviation * drawn);
  }
  return constant(name, std::move(data));
}

TensorId RandomNetwork::positive(const std::string& name, const Shape& shape, double deviation) {
  Tensor data = Tensor::allocate(DType::f32, shape);
  for (float& value : data.as_mutable<float>()) {
    value = static_cast<float>(std::exp(deviation * standard_normal(generator_)));
  }
  return constant(name, std::move(data));
}

TensorId RandomNetwork::index(const std::string& name, std::int64_t value) {
  return constant(name, Tensor::from(Shape{}, std::span<const std::int64_t>(&value, 1)));
}

TensorId RandomNetwork::list(const std::string& name, const std::vector<std::int64_t>& values) {
  return constant(name, Tensor::from({static_cast<std::int64_t>(values.size())},
                                     std::span<const std::int64_t>(values)));
}

TensorId RandomNetwork::constant(const std::string& name, Tensor data) {
  return graph_.add_tensor(constant_tensor(name, std::move(data)));
}

TensorId RandomNetwork::computed(const std::string& name) {
  GraphTensor result;
  result.name = name;
  return graph_.add_tensor(std::move(result));
}

TensorId RandomNetwork::node(const std::string& op, const std::string& name,
                             const std::vector<TensorId>& inputs,
                             const std::map<std::string, Attribute>& attributes) {
  const TensorId id = computed(name);
  graph_.nodes.push_back(
      {.op = op, .name = name, .inputs = inputs, .outputs = {id}, .attributes = attributes});
  return id;
}

std::vector<TensorId> RandomNetwork::node_of(std::size_t outputs, const std::string& op,
                                             const std::string& name,
                                             const std::vector<TensorId>& inputs,
                                             const std::map<std::string, Attribute>& attributes) {
  std::vector<TensorId> ids;
  for (std::size_t i = 0; i < outputs; ++i) {
    ids.push_back(computed(name + "." + std::to_string(i)));
  }
  graph_.nodes.push_back(
      {.op = op, .name = name, .inputs = inputs, .outputs = ids, .attributes = attributes});
  return ids;
}

void RandomNetwork::output(TensorId id, std::vector<Dimension> extents, DType dtype) {
  graph_.tensor(id).declared = std::move(extents);
  graph_.tensor(id).dtype = dtype;
  graph_.outputs.push_back(id);
}

Graph RandomNetwork::finish() const {
  verify(graph_, graph_.name);
  return graph_;
}

}  // namespace morton::graph
