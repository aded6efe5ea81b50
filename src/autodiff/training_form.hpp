// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::autodiff {

/// The input of a training step that Dropout's masks follow from: u32, another for each step.
inline constexpr const char* kDropoutInput = "morton.dropout";

/// Brings the nodes that compute otherwise in training than in use into the form of training:
///
/// - BatchNormalization whose scale or shift is learned: mean and variance of the batch; its
///   running statistics become states, which follow as ONNX says (old * momentum + new *
///   (1 - momentum), the variance being that of the batch, divided by its number of elements).
/// - Dropout with a ratio above 0: a mask from a hash of the element's number, the node's and
///   kDropoutInput, which becomes an input of the graph; what is kept is scaled by
///   1 / (1 - ratio). The same on every device.
///
/// Shapes must be known. `is_learned` says it of a tensor. Throws UnsupportedError for a ratio that
/// is no constant.
void to_training_form(Graph& graph, const std::function<bool(TensorId)>& is_learned);

}  // namespace morton::autodiff
