// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "ops/core/graph_writer.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {

constexpr std::int64_t kBatch = 17;
constexpr std::int64_t kClasses = 5;

/// Writes a small network whose input x has this shape, the first extent being the batch.
class SmallNetwork {
 public:
  explicit SmallNetwork(const Shape& shape) : writer_(graph_, "layer") {
    graph_.name = "small";
    GraphTensor input;
    input.name = "x";
    input.kind = GraphTensor::Kind::input;
    input.declared = {{0, "batch"}};
    for (std::size_t d = 1; d < shape.size(); ++d) input.declared.push_back({shape[d], ""});
    input.shape = shape;
    last_ = graph_.add_tensor(std::move(input));
    graph_.inputs.push_back(last_);
  }

  TensorId weights(const std::string& name, const Shape& shape) {
    return constant(name, random_tensor(shape, ++seed_));
  }
  TensorId weights(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    return constant(name, Tensor::from(shape, values));
  }

  TensorId whole_numbers(const std::string& name, const std::vector<std::int64_t>& values) {
    return constant(name, Tensor::from(Shape{static_cast<std::int64_t>(values.size())},
                                       std::span<const std::int64_t>(values)));
  }

  void add(const std::string& op, const std::vector<TensorId>& more,
           const GraphWriter::Attributes& attributes = {}) {
    std::vector<TensorId> inputs{last_};
    inputs.insert(inputs.end(), more.begin(), more.end());
    last_ = writer_.add(op, inputs, attributes);
  }

  void add_batch_norm(std::int64_t channels) {
    const TensorId variance = weights("variance", {channels});
    for (float& value : graph_.tensor(variance).data.as_mutable<float>()) {
      value = std::fabs(value) + 0.5F;
    }
    add("BatchNormalization", {weights("scale", {channels}), weights("shift", {channels}),
                               weights("mean", {channels}), variance});
  }

  Graph finish() {
    graph_.outputs = {last_};
    return graph_;
  }

 private:
  TensorId constant(const std::string& name, Tensor data) {
    GraphTensor tensor;
    tensor.name = name;
    tensor.kind = GraphTensor::Kind::constant;
    tensor.shape = data.shape();
    tensor.dtype = data.dtype();
    tensor.data = std::move(data);
    return graph_.add_tensor(std::move(tensor));
  }

  Graph graph_;
  GraphWriter writer_;
  TensorId last_ = kNoTensor;
  std::uint64_t seed_ = 0;
};

/// Convolutions, BatchNormalization, a pool and a product for kClasses classes.
inline Graph small_network() {
  SmallNetwork network({kBatch, 2, 8, 8});
  network.add("Conv", {network.weights("first", {3, 2, 3, 3}), network.weights("bias", {3})},
              {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  network.add_batch_norm(3);
  network.add("Relu", {});
  network.add("MaxPool", {},
              {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
               {"strides", std::vector<std::int64_t>{2, 2}}});
  network.add("Conv", {network.weights("second", {7, 3, 3, 3})},
              {{"strides", std::vector<std::int64_t>{2, 2}}});
  network.add("Tanh", {});
  network.add("Flatten", {});
  network.add("Gemm",
              {network.weights("last", {kClasses, 7}), network.weights("offset", {kClasses})},
              {{"transB", std::int64_t{1}}});
  network.add("Softmax", {}, {{"axis", std::int64_t{1}}});
  return network.finish();
}

/// Products and BatchNormalization for kClasses classes, of which few kernels are built.
inline Graph dense_network() {
  SmallNetwork network({kBatch, 6});
  network.add("Gemm", {network.weights("first", {6, 9})});
  network.add_batch_norm(9);
  network.add("Tanh", {});
  network.add("Gemm", {network.weights("last", {9, kClasses})});
  network.add("Softmax", {}, {{"axis", std::int64_t{1}}});
  return network.finish();
}

inline Tensor labels() {
  Tensor tensor = Tensor::allocate(DType::i32, {kBatch});
  for (std::int64_t i = 0; i < kBatch; ++i) tensor.set(i, static_cast<double>(i * 7 % kClasses));
  return tensor;
}

}  // namespace morton::test
