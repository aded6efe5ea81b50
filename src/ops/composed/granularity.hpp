// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

/// Input 1 or 2 of a quantising node, its scales or zero points, in a shape that broadcasts to that
/// of input 0: one for all, one for each place along the axis, or one for each block along it.
/// Throws ModelError where their shape fits none of these.
[[nodiscard]] TensorId spread_parameter(Expansion& to, std::size_t input);

/// Throws ModelError unless the zero points, where there are any, are of `type` and of the scales'
/// shape.
void check_parameters(const NodeView& node, DType type);

}  // namespace morton::ops
