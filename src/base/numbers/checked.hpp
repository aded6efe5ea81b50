// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "morton/error.hpp"

namespace morton {

/// a * b; throws ModelError naming `what` when the product leaves 64 bits.
[[nodiscard]] inline std::int64_t checked_mul(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw ModelError(std::string(what) + ": " + std::to_string(a) + " * " + std::to_string(b) +
                     " does not fit 64 bits");
  }
  return result;
}

/// a + b; throws ModelError naming `what` when the sum leaves 64 bits.
[[nodiscard]] inline std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    throw ModelError(std::string(what) + ": " + std::to_string(a) + " + " + std::to_string(b) +
                     " does not fit 64 bits");
  }
  return result;
}

/// Least multiple of `step` (> 0) that is not below `value` (>= 0).
[[nodiscard]] inline std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return checked_mul(value / step + (value % step != 0 ? 1 : 0), step, "round_up");
}

/// Least integer that is not below a / b, for a >= 0 and b > 0.
[[nodiscard]] inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace morton
