// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/window.hpp"

namespace morton::ops {

/// A result of extents N C H W, as the tensor that `image` makes of them. Calls
/// `visit(plane, h, w)` for every element in row-major order, planes numbered across N and C, and
/// stores what it returns.
template <typename Visit>
[[nodiscard]] ReferenceTensor reference_planes(const ImageShape& image, const Shape& extents,
                                               const Visit& visit) {
  ReferenceTensor result;
  result.shape = image.own(extents);
  for (std::int64_t plane = 0; plane < extents[0] * extents[1]; ++plane) {
    for (std::int64_t h = 0; h < extents[2]; ++h) {
      for (std::int64_t w = 0; w < extents[3]; ++w) {
        const Bounded value = visit(plane, h, w);
        result.value.push_back(value.value);
        result.error.push_back(value.error);
      }
    }
  }
  return result;
}

}  // namespace morton::ops
