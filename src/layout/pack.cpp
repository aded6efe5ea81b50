// SPDX-License-Identifier: Apache-2.0
//
// Packing on the host: walks the loops of an arrangement in the order of memory, with the offset in
// the dense row-major tensor carried along.
#include <algorithm>
#include <cstring>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "layout/arrangement.hpp"
#include "layout/element_bits.hpp"
#include "layout/pack_slabs.hpp"

namespace morton::layout {
namespace {

/// Equally spaced elements, one after another in both the packed memory and the tensor.
struct CopyRun {
  std::int64_t packed = 0;
  std::int64_t packed_step = 1;
  std::int64_t tensor = 0;
  std::int64_t tensor_step = 1;
  std::int64_t count = 0;
};

/// Every element of a tensor, in the order of an arrangement's memory.
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

/// Copies one run of elements of T's size from `from` to `to`.
template <typename T>
void copy_run(const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step,
              std::int64_t count) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  if (from_step == 1 && to_step == 1 && count > 4) {
    std::memcpy(to, from, static_cast<std::size_t>(count * kSize));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step * kSize, from + i * from_step * kSize, sizeof(T));
  }
}

enum class Direction { pack, unpack };

template <typename T>
void copy_all(const Arrangement& arrangement, const std::byte* from, std::byte* to,
              Direction direction) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  Walk walk(arrangement);
  if (direction == Direction::pack) {
    walk.run([&](const CopyRun& run) {
      copy_run<T>(from + run.tensor * kSize, run.tensor_step, to + run.packed * kSize,
                  run.packed_step, run.count);
    });
  } else {
    walk.run([&](const CopyRun& run) {
      copy_run<T>(from + run.packed * kSize, run.packed_step, to + run.tensor * kSize,
                  run.tensor_step, run.count);
    });
  }
}

void copy_elements(const Arrangement& arrangement, const std::byte* from, std::byte* to,
                   Direction direction) {
  with_element_bits(arrangement.dtype,
                    [&](auto bits) { copy_all<decltype(bits)>(arrangement, from, to, direction); });
}

/// True when the packed bytes are the tensor's own.
bool is_plain(const Arrangement& arrangement) {
  return arrangement.memory == MemoryKind::buffer &&
         same_memory(arrangement,
                     row_major_arrangement(arrangement.dtype, arrangement.tensor_shape));
}

void check_bytes(const Arrangement& arrangement, std::size_t got) {
  const std::int64_t expected = bytes_of(arrangement);
  if (static_cast<std::uint64_t>(expected) != got) {
    throw UsageError("pack: " + print(arrangement) + " takes " + std::to_string(expected) +
                     " bytes, got " + std::to_string(got));
  }
}

}  // namespace

namespace {

template <typename T>
void pack_slab(Walk& walk, std::int64_t first, std::int64_t count, const std::byte* from,
               std::byte* to) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t origin = first * walk.outer_stride();
  walk.run_slab(first, count, [&](const CopyRun& run) {
    copy_run<T>(from + run.tensor * kSize, run.tensor_step, to + (run.packed - origin) * kSize,
                run.packed_step, run.count);
  });
}

}  // namespace

void pack_in_slabs(const Tensor& source, const Arrangement& arrangement, std::int64_t most_bytes,
                   const TakeSlab& take) {
  if (source.dtype() != arrangement.dtype) {
    return pack_in_slabs(source.converted(arrangement.dtype), arrangement, most_bytes, take);
  }
  const std::int64_t whole = bytes_of(arrangement);
  if (is_plain(arrangement) && source.shape() == arrangement.tensor_shape) {
    return take(0, {source.data(), source.bytes()});
  }
  Walk walk(arrangement);
  const std::int64_t size = size_of(arrangement.dtype);
  const std::int64_t stride_bytes = walk.outer_stride() * size;
  const std::int64_t iterations = walk.outer_iterations();
  const std::int64_t at_once = std::max<std::int64_t>(1, most_bytes / stride_bytes);
  if (at_once >= iterations || source.shape() != arrangement.tensor_shape) {
    std::vector<std::byte> packed(static_cast<std::size_t>(whole));
    pack(source, arrangement, packed);
    return take(0, packed);
  }
  std::vector<std::byte> packed;
  for (std::int64_t first = 0; first < iterations; first += at_once) {
    const std::int64_t count = std::min(at_once, iterations - first);
    const std::int64_t start = first * stride_bytes;
    // The last iteration ends where the memory does: behind it lies no gap of a pitch.
    const std::int64_t end = first + count == iterations ? whole : start + count * stride_bytes;
    packed.assign(static_cast<std::size_t>(end - start), std::byte{0});
    with_element_bits(arrangement.dtype, [&](auto bits) {
      pack_slab<decltype(bits)>(walk, first, count, source.data(), packed.data());
    });
    take(start, packed);
  }
}

void pack(const Tensor& source, const Arrangement& arrangement, std::span<std::byte> destination) {
  if (source.shape() != arrangement.tensor_shape) {
    throw ModelError("pack: expected a tensor of " + to_string(arrangement.tensor_shape) +
                     ", got " + to_string(source.shape()));
  }
  check_bytes(arrangement, destination.size());
  if (source.dtype() != arrangement.dtype) {
    return pack(source.converted(arrangement.dtype), arrangement, destination);
  }
  if (destination.empty()) return;
  if (is_plain(arrangement)) {
    std::memcpy(destination.data(), source.data(), destination.size());
    return;
  }
  std::memset(destination.data(), 0, destination.size());
  copy_elements(arrangement, source.data(), destination.data(), Direction::pack);
}

Tensor unpack(std::span<const std::byte> source, const Arrangement& arrangement) {
  check_bytes(arrangement, source.size());
  Tensor tensor = Tensor::allocate(arrangement.dtype, arrangement.tensor_shape);
  if (tensor.bytes() == 0) return tensor;
  if (is_plain(arrangement)) {
    std::memcpy(tensor.mutable_data(), source.data(), source.size());
  } else {
    copy_elements(arrangement, source.data(), tensor.mutable_data(), Direction::unpack);
  }
  return tensor;
}

}  // namespace morton::layout
