// SPDX-License-Identifier: Apache-2.0
#include "support/networks.hpp"

#include <cmath>
#include <utility>

#include "base/shape.hpp"
#include "passes/pipeline.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// From -1 to 1.
float draw(std::mt19937_64& generator) {
  return static_cast<float>(static_cast<double>(generator() >> 32) / 2147483648.0 - 1.0);
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, std::uint64_t seed) : generator_(seed) {
  graph_.name = std::move(name);
}

TensorId NetworkBuilder::input(const std::string& name, const Shape& shape) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::input;
  for (const std::int64_t extent : shape) {
    tensor.declared.push_back(extent < 0 ? Dimension{0, "batch"} : Dimension{extent, ""});
  }
  const TensorId id = graph_.add_tensor(std::move(tensor));
  graph_.inputs.push_back(id);
  return id;
}

TensorId NetworkBuilder::parameter(const Shape& shape, std::int64_t terms) {
  GraphTensor tensor;
  tensor.name = "parameter" + std::to_string(graph_.tensors.size());
  tensor.kind = GraphTensor::Kind::constant;
  tensor.shape = shape;
  tensor.data = Tensor::allocate(DType::f32, shape);
  const float scale = static_cast<float>(1.5 / std::sqrt(static_cast<double>(terms)));
  for (float& value : tensor.data.as_mutable<float>()) value = scale * draw(generator_);
  return graph_.add_tensor(std::move(tensor));
}

TensorId NetworkBuilder::list(const std::vector<std::int64_t>& values) {
  GraphTensor tensor;
  tensor.name = "list" + std::to_string(graph_.tensors.size());
  tensor.kind = GraphTensor::Kind::constant;
  tensor.dtype = DType::i64;
  tensor.shape = {static_cast<std::int64_t>(values.size())};
  tensor.data = Tensor::from(tensor.shape, std::span<const std::int64_t>(values));
  return graph_.add_tensor(std::move(tensor));
}

TensorId NetworkBuilder::node(const std::string& op, const std::vector<TensorId>& inputs,
                              const std::map<std::string, Attribute>& attributes) {
  Node node;
  node.op = op;
  node.name = op + std::to_string(graph_.nodes.size());
  node.inputs = inputs;
  node.attributes = attributes;
  GraphTensor result;
  result.name = node.name;
  const TensorId id = graph_.add_tensor(std::move(result));
  node.outputs = {id};
  graph_.nodes.push_back(std::move(node));
  return id;
}

TensorId NetworkBuilder::dense(TensorId input, std::int64_t in, std::int64_t out) {
  const TensorId weights = parameter({out, in}, in);
  return node("Gemm", {input, weights, parameter({out}, 4)}, {{"transB", std::int64_t{1}}});
}

TensorId NetworkBuilder::conv(TensorId input, std::int64_t in, std::int64_t out,
                              const Filter& filter) {
  const std::int64_t depth = in / filter.groups;
  const TensorId weights =
      parameter({out, depth, filter.size, filter.size}, depth * filter.size * filter.size);
  const std::vector<std::int64_t> pads(4, filter.pad);
  const std::vector<std::int64_t> strides(2, filter.stride);
  return node("Conv", {input, weights, parameter({out}, 4)},
              {{"pads", pads}, {"strides", strides}, {"group", filter.groups}});
}

Graph NetworkBuilder::finish() const {
  verify(graph_, "test network");
  return graph_;
}

Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (float& value : tensor.as_mutable<float>()) value = draw(generator);
  return tensor;
}

Tensor random_integers(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (float& value : tensor.as_mutable<float>()) {
    value = static_cast<float>(static_cast<int>((generator() >> 32) % 7) - 3);
  }
  return tensor;
}

Graph make_mlp(std::uint64_t seed) {
  NetworkBuilder network("mlp", seed);
  TensorId x = network.input("x", {-1, 784});
  x = network.relu(network.dense(x, 784, 100));
  x = network.relu(network.dense(x, 100, 100));
  x = network.dense(x, 100, 10);
  network.output(network.node("Softmax", {x}, {{"axis", std::int64_t{1}}}));
  return network.finish();
}

Graph make_small_cnn(std::uint64_t seed) {
  using Filter = NetworkBuilder::Filter;
  NetworkBuilder network("small_cnn", seed);
  const std::vector<std::int64_t> two{2, 2};
  TensorId x = network.input("x", {-1, 3, 19, 17});
  x = network.relu(network.conv(x, 3, 12, Filter{.size = 3, .stride = 2, .pad = 1}));
  x = network.relu(network.conv(x, 12, 18, Filter{.size = 3, .pad = 1, .groups = 3}));
  x = network.node("MaxPool", {x}, {{"kernel_shape", two}, {"strides", two}});
  x = network.node("Tanh", {network.conv(x, 18, 18, Filter{.size = 3, .pad = 1, .groups = 18})});
  x = network.relu(network.conv(x, 18, 7, Filter{.size = 1}));
  x = network.node("AveragePool", {x}, {{"kernel_shape", two}, {"strides", two}});
  x = network.node("Flatten", {x});
  x = network.node("Sigmoid", {network.dense(x, 7 * 2 * 2, 17)});
  network.output(network.node("Softmax", {network.dense(x, 17, 5)}));
  return network.finish();
}

Graph make_residual_network(std::uint64_t seed) {
  using Filter = NetworkBuilder::Filter;
  NetworkBuilder network("residual", seed);
  TensorId x = network.input("x", {-1, 3, 9, 7});
  x = network.relu(network.conv(x, 3, 8, Filter{.size = 3, .pad = 1}));
  TensorId inner = network.relu(network.conv(x, 8, 8, Filter{.size = 3, .pad = 1}));
  inner = network.conv(inner, 8, 8, Filter{.size = 3, .pad = 1});
  x = network.relu(network.node("Add", {inner, x}));
  inner = network.relu(network.conv(x, 8, 16, Filter{.size = 3, .stride = 2, .pad = 1}));
  inner = network.conv(inner, 16, 16, Filter{.size = 3, .pad = 1});
  const TensorId shortcut = network.conv(x, 8, 16, Filter{.size = 1, .stride = 2});
  x = network.relu(network.node("Add", {shortcut, inner}));
  network.output(network.dense(network.node("Flatten", {x}), 16 * 5 * 4, 11));
  return network.finish();
}

Graph with_shapes(const Graph& graph, std::int64_t batch) {
  PassOptions options;
  options.batch = batch;
  for (const Pass& pass : all_passes()) {
    if (pass.need == Pass::Need::optional) options.skip.emplace_back(pass.name);
  }
  Graph shaped = graph;
  run_passes(shaped, options);
  return shaped;
}

Graph with_all_outputs(const Graph& graph) {
  Graph all = graph;
  all.outputs.clear();
  for (const Node& node : graph.nodes) {
    all.outputs.insert(all.outputs.end(), node.outputs.begin(), node.outputs.end());
  }
  return all;
}

}  // namespace morton::test
