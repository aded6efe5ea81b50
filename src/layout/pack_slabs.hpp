// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/rooms.hpp"
#include "layout/arrangement.hpp"

namespace morton::layout {

/// A part of the packed bytes.
struct Slab {
  std::int64_t offset_bytes = 0, bytes = 0;
  /// Writes all of it to memory of that size.
  std::function<void(std::span<std::byte> to)> fill;
};

/// Takes a part, and calls `fill` before it returns.
using TakeSlab = std::function<void(const Slab& slab)>;

/// As `pack`, but in slabs of about `most_bytes` (at least an iteration of the outermost loop), one
/// after the other, each into memory that `take` has for it.
void pack_in_slabs(const Tensor& source, const Arrangement& arrangement, std::int64_t most_bytes,
                   const TakeSlab& take);
/// The same of what `pack_through` writes. A layout whose outermost loop does not cut a dimension
/// into ranges is one slab.
void pack_through_in_slabs(const Tensor& source, const View& view, const Environment& extents,
                           const Arrangement& arrangement, std::int64_t most_bytes,
                           const TakeSlab& take);

}  // namespace morton::layout
