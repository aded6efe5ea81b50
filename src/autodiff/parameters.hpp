// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::autodiff {

/// The parameters of a model: finite constants where its operators expect what is learned
/// (Operator::Inputs::parameters), by way of reshapes and transposes too. Of elementwise operators
/// only those behind a node with weights, and no single numbers but the slope of a PRelu and the
/// bias of a product of one column or of a convolution of one channel.
[[nodiscard]] std::vector<TensorId> parameters_of(const Graph& model);

/// A model at its shapes: with its own operators, and with those in their place that some are
/// composed of. Tensors keep their names.
struct WrittenOut {
  Graph model;
  Graph expanded;
};
/// The parameters by their ids in the expanded graph. Constants that only expanding made are none:
/// nobody learns the matrix of a Fourier transform.
[[nodiscard]] std::vector<TensorId> parameters_of(const WrittenOut& graphs);

/// What a file does not tell: whether somebody learned a constant or stated it.
struct AmbiguousParameters {
  /// Of the parameters those that elementwise operators multiply, divide or the like: a learned
  /// scale, or a mask or deviation that is fixed.
  std::vector<TensorId> scales;
  /// Single numbers where larger constants would be parameters: taken for stated ones.
  std::vector<TensorId> numbers;
};
[[nodiscard]] AmbiguousParameters ambiguous_parameters(const Graph& model);
[[nodiscard]] AmbiguousParameters ambiguous_parameters(const WrittenOut& graphs);

}  // namespace morton::autodiff
