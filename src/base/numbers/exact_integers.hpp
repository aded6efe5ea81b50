// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace morton {

/// 2^53: a double holds every whole number up to this, and beyond it not every one.
inline constexpr double kExactIntegers = 9007199254740992.0;

/// How far a whole number may lie from `value`, which was computed in double: as far as its
/// arguments' errors carry it. Beyond 2^53 it may be any of 64 bits, since what overflows wraps
/// around.
[[nodiscard]] inline double error_of_whole(double value, double carried) {
  return std::fabs(value) + carried < kExactIntegers ? carried : 0x1p64;
}

}  // namespace morton
