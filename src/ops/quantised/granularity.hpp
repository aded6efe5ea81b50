// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

/// Input 0, its scales and, where there are any, its zero points, which are of `type`: as operands
/// of a chain. Throws ModelError where zero points are of another type, or not of the scales'
/// shape.
[[nodiscard]] std::vector<TensorId> quantisation_operands(Expansion& to, DType type);

}  // namespace morton::ops
