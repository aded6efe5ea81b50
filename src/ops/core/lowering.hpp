// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"
#include "problems/problem.hpp"

namespace morton::ops {

class Gradient;

/// The node's problems, one where the operator has no `parts`, with its epilogue, bias inputs of
/// Conv and Gemm included. Input shapes must have been inferred. Throws UnsupportedError for
/// element types that the operator does not list, and InternalError for operators with `alias`,
/// which are nothing to compute.
[[nodiscard]] std::vector<BoundProblem> lower(const Graph& graph, const Node& node);

/// Gives the gradients of the node's inputs that are wanted; nothing for inputs that its outputs do
/// not depend on smoothly. Throws UnsupportedError where the operator has no gradient.
void differentiate(Gradient& gradient);

/// The chain over all of an elementwise node's inputs, its epilogue included: input i of the chain
/// is node.inputs[i].
[[nodiscard]] Chain whole_chain(const Graph& graph, const Node& node);

}  // namespace morton::ops
