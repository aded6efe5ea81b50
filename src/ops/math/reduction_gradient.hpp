// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

/// The gradient of a reduction of input 0 along these dimensions. Where several elements are the
/// extreme one they share it. Throws UnsupportedError for products and for maps that have none.
void gradient_of_reduction(Gradient& gradient, const Along& along, const Reduction& reduction);

}  // namespace morton::ops
