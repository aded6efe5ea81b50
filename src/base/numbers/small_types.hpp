// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/numbers/power_rounding.hpp"
#include "morton/dtype.hpp"

namespace morton {

/// How the numbers of a real type of at most 8 bits are written (not f8e8m0, which has powers of
/// two alone). A sign, the exponent and the fraction make a code. An exponent of 0 stands for the
/// same power as 1, without the leading 1.
struct SmallReal {
  DType type;
  int exponent_bits, fraction_bits, bias;
  std::uint8_t most;      ///< code of the largest number
  std::uint8_t infinity;  ///< code of infinity, or 0 where there is none
  std::uint8_t nan;       ///< code of a NaN, or 0 where there is none
  [[nodiscard]] std::uint8_t sign() const {
    return static_cast<std::uint8_t>(1U << (exponent_bits + fraction_bits));
  }
  /// Whether the code of a negative zero stands for the one NaN.
  [[nodiscard]] bool has_one_zero() const { return nan == sign(); }
};

/// The format, or nullptr of any other type.
[[nodiscard]] const SmallReal* small_real(DType type);

/// A real that is only stored: a small one, or f8e8m0.
[[nodiscard]] bool is_stored_real(DType type);
/// i4, u4, i2 and u2.
[[nodiscard]] bool is_narrow_integer(DType type);
/// Either: nothing is computed with such elements but their conversion.
[[nodiscard]] bool is_only_stored(DType type);
/// All of them.
[[nodiscard]] std::span<const DType> stored_types();

/// Bits that count of an element: 4 of i4, 6 of f6e2m3, 32 of f32.
[[nodiscard]] int bits_of(DType type);

/// The value of a code of a stored real; exact. Of several NaNs each has a value of its own.
[[nodiscard]] float from_stored_real(DType type, std::uint8_t code);
/// The code of the number that is nearest to `value`, ties to even; of f8e8m0 as `rounding` has it.
/// Of a type without NaN, a NaN becomes 0; f8e8m0 has a NaN for what is negative.
[[nodiscard]] std::uint8_t to_stored_real(DType type, float value, OutOfRange out,
                                          PowerRounding rounding);
/// The code that from_stored_real read `value` from, NaNs' too. Other numbers as above: what is
/// finite saturates, infinity stays where the type has it; f8e8m0 is rounded up.
[[nodiscard]] std::uint8_t to_stored_real(DType type, float value);

}  // namespace morton
