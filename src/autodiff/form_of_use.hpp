// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::autodiff {

/// What exporters write of a model in training, in the form in which a model is used, and from
/// which to_training_form makes that of training:
///
/// - an Identity of a constant, with which PyTorch names one of several equal initial values,
///   becomes a constant of its own;
/// - a running statistic that is read in another place too becomes one of its own;
/// - BatchNormalization and Dropout leave their training mode.
///
/// What the model computes in use stays the same. Throws ModelError for a graph that is none, and
/// for a node with a wrong number of inputs, whether an output depends on it or not.
[[nodiscard]] Graph in_form_of_use(Graph model);

}  // namespace morton::autodiff
