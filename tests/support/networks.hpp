// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "morton/tensor.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// Writes a network in code, with random parameters. Tensors are named after the nodes that make
/// them; nodes get the name of their operator and a number. Input extents of -1 are the open extent
/// "batch".
class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, std::uint64_t seed);

  TensorId input(const std::string& name, const Shape& shape);
  /// Zero-mean values, smaller the more of them enter a sum of `terms`.
  TensorId parameter(const Shape& shape, std::int64_t terms);
  TensorId list(const std::vector<std::int64_t>& values);
  TensorId node(const std::string& op, const std::vector<TensorId>& inputs,
                const std::map<std::string, Attribute>& attributes = {});
  /// Gemm with transB and a bias.
  TensorId dense(TensorId input, std::int64_t in, std::int64_t out);
  struct Filter {
    std::int64_t size = 3, stride = 1, pad = 0, groups = 1;
  };
  /// Conv with a bias.
  TensorId conv(TensorId input, std::int64_t in, std::int64_t out, const Filter& filter);
  TensorId relu(TensorId input) { return node("Relu", {input}); }
  void output(TensorId id) { graph_.outputs.push_back(id); }
  /// Checked.
  [[nodiscard]] Graph finish() const;

 private:
  Graph graph_;
  std::mt19937_64 generator_;
};

/// Zero-mean values; the same for the same seed.
[[nodiscard]] Tensor random_tensor(const Shape& shape, std::uint64_t seed);
/// Whole numbers from -3 to 3.
[[nodiscard]] Tensor random_integers(const Shape& shape, std::uint64_t seed);

/// `layers` dense layers 784-100-...-10 with Relu between them and a Softmax behind; batch open.
[[nodiscard]] Graph make_mlp(std::uint64_t seed);
/// 3x19x17 input, stride, padding, groups, depthwise, both pools, Flatten, a classifier; batch
/// open.
[[nodiscard]] Graph make_small_cnn(std::uint64_t seed);
/// Two residual blocks, one with a 1x1 convolution on the shortcut; batch open.
[[nodiscard]] Graph make_residual_network(std::uint64_t seed);

/// The graph with `batch` bound and shapes inferred, but not rewritten: what a device is compared
/// with.
[[nodiscard]] Graph with_shapes(const Graph& graph, std::int64_t batch);
/// The graph with the result of every node as an output, in the order of the nodes.
[[nodiscard]] Graph with_all_outputs(const Graph& graph);

}  // namespace morton::test
