// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "problems/movement/roi.hpp"

namespace morton::ops {

/// The gradient of RoiAlign's image in mode avg. Throws UnsupportedError for other modes, and where
/// that of the regions is wanted.
void gradient_of_roi_align(Gradient& gradient, const RoiAlignStructure& align);
/// The gradient of MaxRoiPool's image. That of the regions is 0, since corners are rounded.
void gradient_of_max_roi_pool(Gradient& gradient);

}  // namespace morton::ops
