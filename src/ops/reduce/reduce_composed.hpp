// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

/// Reductions that no kernel computes: of no elements a constant (the sum 0, the product 1, the
/// largest of nothing the least of its type), of bools that of bytes. Gives nothing for others.
/// Throws ModelError for the mean of no whole numbers.
[[nodiscard]] std::vector<TensorId> expand_reduction(Expansion& expansion,
                                                     const Reduction& reduction);

}  // namespace morton::ops
