// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "autodiff/optimizers.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::autodiff {

/// Inputs of a training step that accumulates or scales its loss, scalars of f32.
inline constexpr const char* kApplyInput = "morton.apply";  ///< 0: only adds up; 1: renews
inline constexpr const char* kLossScaleInput = "morton.loss_scale";
inline constexpr const char* kUnscaleInput = "morton.unscale";  ///< 1 / the loss's scale
/// How many elements of the gradients are not finite: f32 [1].
inline constexpr const char* kOverflowOutput = "morton.overflow";

/// Takes the loss's scale away from the gradients.
void unscale_gradients(Graph& graph, std::vector<Learned>& learned);

/// Adds what earlier steps left to the gradients: states "NAME/accumulated", which start at 0 and
/// do so again where kApplyInput is 1.
void accumulate_gradients(Graph& graph, std::vector<Learned>& learned);

/// How many elements of the gradients are not finite: f32 [1].
TensorId count_not_finite(Graph& graph, const std::vector<Learned>& learned);

/// From update `first` on, states keep their values where kApplyInput (if the graph has it) is 0,
/// and where `overflow` (unless it is kNoTensor) is not 0.
void hold_updates(Graph& graph, std::size_t first, TensorId overflow);

}  // namespace morton::autodiff
