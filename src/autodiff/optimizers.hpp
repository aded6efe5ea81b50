// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/optimizer.hpp"

namespace morton::autodiff {

/// A parameter (a state of the graph) and its gradient.
struct Learned {
  TensorId parameter = kNoTensor;
  TensorId gradient = kNoTensor;
};

/// Inputs of a training step that the host gives anew each time, scalars of f32.
inline constexpr const char* kRateInput = "morton.rate";
inline constexpr const char* kCorrection1Input = "morton.correction1";  ///< 1 / (1 - beta1^t)
inline constexpr const char* kCorrection2Input = "morton.correction2";  ///< 1 / sqrt(1 - beta2^t)

/// Adds to the graph how each parameter follows its gradient (OptimizerOptions): the inputs that
/// the optimizer takes, states of its own ("NAME/momentum"), and updates of all of them.
void add_updates(Graph& graph, const OptimizerOptions& options,
                 const std::vector<Learned>& learned);

/// Scales all gradients down where together they are longer than `limit`.
void clip_gradients(Graph& graph, double limit, std::vector<Learned>& learned);

/// A scalar input of the graph.
TensorId add_scalar_input(Graph& graph, const std::string& name, DType type);

}  // namespace morton::autodiff
