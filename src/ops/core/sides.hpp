// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "problems/problem.hpp"

namespace morton::ops {

/// Leaves of a problem's side operands those that must be read: scalar constants become constants
/// of the epilogue, an operand that stands twice or is the elementwise problem's source is read
/// once, and what the epilogue does not read goes.
void simplify_sides(const Graph& graph, BoundProblem& bound);

}  // namespace morton::ops
