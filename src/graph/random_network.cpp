// SPDX-License-Identifier: Apache-2.0
#include "graph/random_network.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace morton {
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

RandomNetwork::RandomNetwork(std::string name, std::uint64_t seed) : generator_(seed) {
  graph_.name = std::move(name);
}

TensorId RandomNetwork::input(const std::string& name, std::vector<Dimension> extents) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::input;
  tensor.declared = std::move(extents);
  const TensorId id = graph_.add_tensor(std::move(tensor));
  graph_.inputs.push_back(id);
  return id;
}

TensorId RandomNetwork::weights(const std::string& name, const Shape& shape, std::int64_t terms) {
  return normal(name, shape, std::sqrt(2.0 / static_cast<double>(terms)));
}

TensorId RandomNetwork::biases(const std::string& name, const Shape& shape) {
  return normal(name, shape, kBiasDeviation);
}

TensorId RandomNetwork::filled(const std::string& name, const Shape& shape, float value) {
  Tensor data = Tensor::allocate(DType::f32, shape);
  for (float& element : data.as_mutable<float>()) element = value;
  return constant(name, std::move(data));
}

TensorId RandomNetwork::normal(const std::string& name, const Shape& shape, double deviation) {
  Tensor data = Tensor::allocate(DType::f32, shape);
  for (float& value : data.as_mutable<float>()) {
    value = static_cast<float>(deviation * standard_normal(generator_));
  }
  return constant(name, std::move(data));
}

TensorId RandomNetwork::constant(const std::string& name, Tensor data) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::constant;
  tensor.shape = data.shape();
  tensor.data = std::move(data);
  return graph_.add_tensor(std::move(tensor));
}

TensorId RandomNetwork::node(const std::string& op, const std::string& name,
                             const std::vector<TensorId>& inputs,
                             const std::map<std::string, Attribute>& attributes) {
  GraphTensor result;
  result.name = name;
  const TensorId id = graph_.add_tensor(std::move(result));
  Node node;
  node.op = op;
  node.name = name;
  node.inputs = inputs;
  node.outputs = {id};
  node.attributes = attributes;
  graph_.nodes.push_back(std::move(node));
  return id;
}

void RandomNetwork::output(TensorId id, std::vector<Dimension> extents) {
  graph_.tensor(id).declared = std::move(extents);
  graph_.outputs.push_back(id);
}

Graph RandomNetwork::finish() const {
  verify(graph_, graph_.name);
  return graph_;
}

}  // namespace morton
