// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "autodiff/optimizers.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::autodiff {

/// Inputs of a training step that accumulates or scales its loss, scalars of f32.
inline constexpr const char* kFreshInput = "morton.fresh";  ///< 0: adds to earlier gradients
inline constexpr const char* kLossScaleInput = "morton.loss_scale";
inline constexpr const char* kUnscaleInput = "morton.unscale";  ///< 1 / the loss's scale
/// How many elements of the gradients are not finite: f32 [1].
inline constexpr const char* kOverflowOutput = "morton.overflow";

/// Takes the loss's scale away from the gradients.
void unscale_gradients(Graph& graph, std::vector<Learned>& learned);

/// Behind a parameter's name, that of the state in which its gradients are added up.
inline constexpr const char* kAccumulatedSuffix = "/accumulated";
/// Adds the gradients to states "NAME/accumulated", which start anew where kFreshInput is not 0.
void accumulate_gradients(Graph& graph, const std::vector<Learned>& learned);

/// How many elements of the gradients are not finite: f32 [1].
TensorId count_not_finite(Graph& graph, const std::vector<Learned>& learned);

/// From update `first` on, states keep their values where `overflow` is not 0.
void hold_updates(Graph& graph, std::size_t first, TensorId overflow);

}  // namespace morton::autodiff
