// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "ops/core/graph_writer.hpp"

namespace morton::ops {

/// One Fourier transform: of how many numbers, which way, and which of its results are wanted.
struct Fourier {
  std::int64_t length = 1;
  enum class Direction : std::uint8_t { forward, inverse } direction = Direction::forward;
  /// `half`: the first length / 2 + 1, of a forward transform; an inverse one is given those and
  /// makes real numbers of them.
  enum class Part : std::uint8_t { whole, half } part = Part::whole;
};

/// The transforms of the rows of `value`, rows x numbers x (1 or 2, the real and the imaginary
/// part): rows x results x 2, or x 1 where an inverse transform is of halves. Rows are cut, or
/// filled up with zeros. Short ones are a product with a constant matrix; long ones are split
/// into factors (J. Cooley, J. Tukey, 1965), and what has none is a convolution (L. Bluestein,
/// 1968).
[[nodiscard]] TensorId transformed(GraphWriter& writer, TensorId value, const Fourier& fourier);

}  // namespace morton::ops
