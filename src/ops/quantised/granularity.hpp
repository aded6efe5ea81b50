// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

/// Input 0, its scales and, where there are any, its zero points, which are of `type`: as operands
/// of a chain. Throws ModelError where zero points are of another type, or not of the scales'
/// shape.
[[nodiscard]] std::vector<TensorId> quantisation_operands(Expansion& to, DType type);

/// Input `i` as a number of a chain, where it is known and one, and f32 is wide enough for it:
/// where `target` is f32.
[[nodiscard]] std::optional<ScalarRef> known_number(const NodeView& node, std::size_t i,
                                                    DType target);
/// Whether input `i` is known and holds nothing but 0.
[[nodiscard]] bool is_zero(const NodeView& node, std::size_t i);

}  // namespace morton::ops
