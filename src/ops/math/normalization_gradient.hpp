// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/along.hpp"

namespace morton::ops {

/// The gradients of a node that scales (by input 1) and shifts (by input 2) the deviations of input
/// 0 along some dimensions; `shapes` are those that inputs 1 and 2 broadcast as, none where the
/// node has no such inputs.
void gradient_of_deviations(Gradient& gradient, const Along& along, double epsilon,
                            const std::vector<Shape>& shapes);

}  // namespace morton::ops
