// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "problems/movement/grid_sample.hpp"

namespace morton::ops {

/// How a GridSample reads its image. Throws ModelError.
[[nodiscard]] GridSampleStructure sampling_of(const NodeView& node);

/// The gradients of image and grid. Between two elements a place counts as on the side of the
/// higher one; places that were moved to the border give the grid none. PyTorch 2 does the same.
void gradient_of_grid_sample(Gradient& gradient);

}  // namespace morton::ops
