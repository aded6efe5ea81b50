// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/rooms.hpp"
#include "layout/arrangement.hpp"

namespace morton::layout {

/// Takes a part of the packed bytes, which begins at `offset_bytes`; they may go when it returns.
using TakeSlab = std::function<void(std::int64_t offset_bytes, std::span<const std::byte> bytes)>;

/// As `pack`, but hands out the packed bytes one after the other in slabs of about `most_bytes` (at
/// least an iteration of the outermost loop), so that a large tensor is not in memory twice. A
/// tensor whose own bytes are the packed ones is handed out whole, without a copy.
void pack_in_slabs(const Tensor& source, const Arrangement& arrangement, std::int64_t most_bytes,
                   const TakeSlab& take);
/// The same of what `pack_through` writes. A layout whose outermost loop does not cut a dimension
/// into ranges is handed out whole.
void pack_through_in_slabs(const Tensor& source, const View& view, const Environment& extents,
                           const Arrangement& arrangement, std::int64_t most_bytes,
                           const TakeSlab& take);

}  // namespace morton::layout
