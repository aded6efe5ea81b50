// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/rooms.hpp"

namespace morton::device {

/// How the work-items of a MemoryProbe share what they go through.
enum class MemoryWalk : std::uint8_t {
  parts,         ///< each has a part of its own, round after round (CPUs)
  side_by_side,  ///< all of them walk the range, a power of two of vectors, again and again
};

/// Kernels `fill`, `read`, `write` and `copy` of a MemoryProbe on vectors of `lanes` uint.
[[nodiscard]] std::string memory_probe_source(MemoryWalk walk, std::int64_t lanes);
/// Kernel `image_read`, on texels of four uint.
[[nodiscard]] std::string image_probe_source(MemoryWalk walk);

}  // namespace morton::device
