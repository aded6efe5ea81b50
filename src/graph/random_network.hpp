// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::graph {

/// Writes a network in code, with seeded random parameters: the same on every machine, but for the
/// last bit of the mathematical library. A node's first output has its name.
class RandomNetwork {
 public:
  /// Its nodes mean what this set of ONNX's operators says.
  RandomNetwork(std::string name, std::uint64_t seed, std::int64_t opset = 13);

  TensorId input(const std::string& name, std::vector<Dimension> extents, DType dtype = DType::f32);
  /// Weights that enter sums of `terms` products: normal, of variance gain / terms (K. He et al.,
  /// *Delving Deep into Rectifiers*, 2015), so that signals keep their size from layer to layer.
  /// `gain` makes up for what lies before the sums: 2 for a ReLU, 1 for nothing.
  TensorId weights(const std::string& name, const Shape& shape, std::int64_t terms,
                   double gain = 2.0);
  /// Normal, of standard deviation 0.1: small, yet a bias that gets lost shows in the result.
  TensorId biases(const std::string& name, const Shape& shape);
  /// Normal around `mean`.
  TensorId normal(const std::string& name, const Shape& shape, double mean, double deviation);
  /// Normal with mean 0, drawn again beyond two deviations, as TensorFlow's truncated_normal.
  TensorId truncated(const std::string& name, const Shape& shape, double deviation);
  /// Above 0: the exponential of a normal number of mean 0, so around 1.
  TensorId positive(const std::string& name, const Shape& shape, double deviation);
  /// A constant of one value.
  TensorId filled(const std::string& name, const Shape& shape, float value);
  TensorId constant(const std::string& name, Tensor data);
  /// A scalar, and a list, of i64.
  TensorId index(const std::string& name, std::int64_t value);
  TensorId list(const std::string& name, const std::vector<std::int64_t>& values);
  TensorId node(const std::string& op, const std::string& name, const std::vector<TensorId>& inputs,
                const std::map<std::string, Attribute>& attributes = {});
  /// A node of several outputs, named "name.0", "name.1", ...
  std::vector<TensorId> node_of(std::size_t outputs, const std::string& op, const std::string& name,
                                const std::vector<TensorId>& inputs,
                                const std::map<std::string, Attribute>& attributes = {});
  /// `id` becomes an output, and its extents are declared.
  void output(TensorId id, std::vector<Dimension> extents, DType dtype = DType::f32);
  /// Checked.
  [[nodiscard]] Graph finish() const;

 private:
  TensorId computed(const std::string& name);

  Graph graph_;
  std::mt19937_64 generator_;
};

}  // namespace morton::graph
