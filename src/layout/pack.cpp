// SPDX-License-Identifier: Apache-2.0
//
// Packing on the host.
#include <algorithm>
#include <cstring>

#include "base/rooms.hpp"
#include "layout/arrangement.hpp"
#include "layout/element_bits.hpp"
#include "layout/pack_slabs.hpp"
#include "layout/walk.hpp"

namespace morton::layout {
namespace {

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

/// Makes zero what packing does not write, in a part of the packed bytes.
void clear_padding(const Arrangement& arrangement, std::span<std::byte> part) {
  const std::int64_t written = element_count(arrangement.tensor_shape) * size_of(arrangement.dtype);
  if (bytes_of(arrangement) != written) std::memset(part.data(), 0, part.size());
}

void check_bytes(const Arrangement& arrangement, std::size_t got) {
  const std::int64_t expected = bytes_of(arrangement);
  if (static_cast<std::uint64_t>(expected) != got) {
    throw UsageError("pack: " + print(arrangement) + " takes " + std::to_string(expected) +
                     " bytes, got " + std::to_string(got));
  }
}

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
  Walk walk(arrangement);
  const std::int64_t stride_bytes = walk.outer_stride() * size_of(arrangement.dtype);
  const std::int64_t iterations = walk.outer_iterations();
  const std::int64_t at_once = std::max<std::int64_t>(1, most_bytes / stride_bytes);
  if (at_once >= iterations || source.shape() != arrangement.tensor_shape) {
    return take({0, whole, [&](std::span<std::byte> to) { pack(source, arrangement, to); }});
  }
  for (std::int64_t first = 0; first < iterations; first += at_once) {
    const std::int64_t count = std::min(at_once, iterations - first);
    const std::int64_t start = first * stride_bytes;
    // The last iteration ends where the memory does: behind it lies no gap of a pitch.
    const std::int64_t end = first + count == iterations ? whole : start + count * stride_bytes;
    const auto fill = [&](std::span<std::byte> to) {
      clear_padding(arrangement, to);
      with_element_bits(arrangement.dtype, [&](auto bits) {
        pack_slab<decltype(bits)>(walk, first, count, source.stored(), to.data());
      });
    };
    take({start, end - start, fill});
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
    std::memcpy(destination.data(), source.stored(), destination.size());
    return;
  }
  clear_padding(arrangement, destination);
  copy_elements(arrangement, source.stored(), destination.data(), Direction::pack);
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
