// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

/// How far the results of a convolution may be off where Winograd's transforms compute it
/// (docs/numerics.md): they add numbers before they are multiplied, and every result of a tile has
/// a part in the errors of all of its patch.
struct TransformError {
  double slack = 1.0;     ///< times the bound of a direct convolution
  std::int64_t tile = 1;  ///< results that share their errors, across and down
};

/// Each element's error becomes the largest in its tile of the last two dimensions, times the
/// slack.
void widen(ReferenceTensor& reference, const TransformError& by);

}  // namespace morton::ops
