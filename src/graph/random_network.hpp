// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace morton {

/// Writes a network in code, with seeded random parameters: the same on every machine, but for the
/// last bit of the mathematical library. A node's first output has its name.
class RandomNetwork {
 public:
  RandomNetwork(std::string name, std::uint64_t seed);

  /// An input of f32.
  TensorId input(const std::string& name, std::vector<Dimension> extents);
  /// Weights that enter sums of `terms` products: normal, of variance 2 / terms (K. He et al.,
  /// *Delving Deep into Rectifiers*, 2015), so that signals keep their size from layer to layer.
  TensorId weights(const std::string& name, const Shape& shape, std::int64_t terms);
  /// Normal, of standard deviation 0.1: small, yet a bias that gets lost shows in the result.
  TensorId biases(const std::string& name, const Shape& shape);
  /// A constant of one value.
  TensorId filled(const std::string& name, const Shape& shape, float value);
  TensorId node(const std::string& op, const std::string& name, const std::vector<TensorId>& inputs,
                const std::map<std::string, Attribute>& attributes = {});
  /// `id` becomes an output, and its extents are declared.
  void output(TensorId id, std::vector<Dimension> extents);
  /// Checked.
  [[nodiscard]] Graph finish() const;

 private:
  TensorId constant(const std::string& name, Tensor data);
  TensorId normal(const std::string& name, const Shape& shape, double deviation);

  Graph graph_;
  std::mt19937_64 generator_;
};

}  // namespace morton
