// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "layout/arrangement.hpp"

namespace morton::layout {

/// Equally spaced elements, one after another in both the packed memory and the tensor.
struct CopyRun {
  std::int64_t packed = 0;
  std::int64_t packed_step = 1;
  std::int64_t tensor = 0;
  std::int64_t tensor_step = 1;
  std::int64_t count = 0;
};

/// Every element of a tensor, in the order of an arrangement's memory: walks the loops of the
/// arrangement with the offset in the dense row-major tensor carried along.
class Walk {
 public:
  explicit Walk(const Arrangement& arrangement);

  /// Calls visit(Run) for runs that together hold each element of the tensor once.
  template <typename Visit>
  void run(const Visit& visit) {
    const bool empty = std::find(extents_.begin(), extents_.end(), 0) != extents_.end();
    if (!empty) descend(0, 0, 0, visit);
  }

  /// Iterations of the outermost loop, and elements from one to the next.
  [[nodiscard]] std::int64_t outer_iterations() const {
    return levels_.empty() ? 1 : levels_.front().iterations;
  }
  [[nodiscard]] std::int64_t outer_stride() const {
    return levels_.empty() ? 1 : levels_.front().stride;
  }
  /// Likewise for `count` iterations of the outermost loop from `first` on.
  template <typename Visit>
  void run_slab(std::int64_t first, std::int64_t count, const Visit& visit) {
    const bool empty = std::find(extents_.begin(), extents_.end(), 0) != extents_.end();
    if (empty) return;
    if (levels_.empty()) return descend(0, 0, 0, visit);
    const Level outer = levels_.front();
    const Track& track = tracks_[outer.dimension];
    const std::int64_t start = first * outer.span;
    if (start >= extents_[outer.dimension]) return;  // padding
    levels_.front().iterations = count;
    position_[outer.dimension] = start;
    descend(0, first * outer.stride, start * track.step, visit);
    position_[outer.dimension] = 0;
    levels_.front() = outer;
  }

 private:
  struct Level {
    int dimension = 0;
    std::int64_t iterations = 1;
    std::int64_t stride = 0;
    std::int64_t span = 1;
  };
  /// Where the elements of one operand dimension lie in the tensor: multiples of `step`, or where
  /// joined dimensions are not neighbours there, an offset for each coordinate.
  struct Track {
    std::int64_t step = 0;
    std::vector<std::int64_t> offsets;
  };

  void add_levels(const Arrangement& arrangement);
  [[nodiscard]] static Track track_of(const JoinedDimensions& group, const Shape& shape,
                                      const Shape& strides);

  /// Where the operand's current coordinates lie in the tensor, apart from the stepped dimensions.
  [[nodiscard]] std::int64_t looked_up() const {
    std::int64_t offset = 0;
    for (const int d : looked_up_) offset += tracks_[d].offsets[position_[d]];
    return offset;
  }

  template <typename Visit>
  void descend(std::size_t depth, std::int64_t packed, std::int64_t tensor, const Visit& visit) {
    if (depth == levels_.size()) return visit(CopyRun{packed, 1, tensor + looked_up(), 1, 1});
    const Level& level = levels_[depth];
    const Track& track = tracks_[level.dimension];
    std::int64_t& position = position_[level.dimension];
    const std::int64_t first = position;
    // Iterations past the tensor's extent are padding.
    const std::int64_t count =
        std::min(level.iterations, ceil_div(extents_[level.dimension] - first, level.span));
    const std::int64_t step = level.span * track.step;
    if (depth + 1 == levels_.size() && track.offsets.empty()) {
      return visit(CopyRun{packed, level.stride, tensor + looked_up(), step, count});
    }
    for (std::int64_t i = 0; i < count; ++i) {
      descend(depth + 1, packed + i * level.stride, tensor + i * step, visit);
      position += level.span;
    }
    position = first;
  }

  Shape extents_;
  Shape position_;
  std::vector<Level> levels_;
  std::vector<Track> tracks_;
  std::vector<int> looked_up_;
};

}  // namespace morton::layout
