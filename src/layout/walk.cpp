// SPDX-License-Identifier: Apache-2.0
#include "layout/walk.hpp"

#include <utility>

namespace morton::layout {

Walk::Walk(const Arrangement& arrangement)
    : extents_(operand_extents(arrangement)), position_(extents_.size(), 0) {
  validate(arrangement);
  add_levels(arrangement);
  const Shape strides = row_major_strides(arrangement.tensor_shape);
  for (const auto& group : arrangement.grouping) {
    tracks_.push_back(track_of(group, arrangement.tensor_shape, strides));
    if (!tracks_.back().offsets.empty()) looked_up_.push_back(static_cast<int>(tracks_.size()) - 1);
  }
}

void Walk::add_levels(const Arrangement& arrangement) {
  const BoundLayout bound(arrangement.layout, arrangement.padded, arrangement.pitch);
  const auto& loops = arrangement.layout.loops();
  Shape spans(extents_.size(), 1);
  for (std::size_t i = loops.size(); i-- > 0;) {
    const Level level{loops[i].dimension, bound.iterations()[i], bound.strides()[i],
                      spans[loops[i].dimension]};
    spans[level.dimension] *= level.iterations;
    if (level.iterations == 1) continue;
    if (!levels_.empty()) {
      Level& inner = levels_.back();
      if (inner.dimension == level.dimension && level.span == inner.span * inner.iterations &&
          level.stride == inner.stride * inner.iterations) {
        inner.iterations *= level.iterations;
        continue;
      }
    }
    levels_.push_back(level);
  }
  std::reverse(levels_.begin(), levels_.end());
}

Walk::Track Walk::track_of(const JoinedDimensions& group, const Shape& shape,
                           const Shape& strides) {
  // Neighbours in the dense tensor step as one dimension.
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;  // extent, stride; outermost first
  for (const int t : group) {
    if (shape[t] == 1) continue;
    if (!parts.empty() && parts.back().second == shape[t] * strides[t]) {
      parts.back() = {parts.back().first * shape[t], strides[t]};
    } else {
      parts.emplace_back(shape[t], strides[t]);
    }
  }
  Track track;
  if (parts.empty()) return track;
  if (parts.size() == 1) {
    track.step = parts.front().second;
    return track;
  }
  track.offsets.assign(1, 0);
  for (const auto& [extent, stride] : parts) {
    std::vector<std::int64_t> longer;
    longer.reserve(track.offsets.size() * static_cast<std::size_t>(extent));
    for (const std::int64_t offset : track.offsets) {
      for (std::int64_t i = 0; i < extent; ++i) longer.push_back(offset + i * stride);
    }
    track.offsets = std::move(longer);
  }
  return track;
}

}  // namespace morton::layout
