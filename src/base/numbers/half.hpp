// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace morton {

/// IEEE 754 binary16 bits of `value`, rounded to nearest even; overflow gives infinity.
[[nodiscard]] std::uint16_t to_half(float value);

/// The value of IEEE 754 binary16 bits; exact.
[[nodiscard]] float from_half(std::uint16_t bits);

/// The upper half of an f32 (bfloat16) nearest to `value`, ties to even; NaN stays NaN.
[[nodiscard]] std::uint16_t to_bfloat16(float value);

/// The value of bfloat16 bits; exact.
[[nodiscard]] float from_bfloat16(std::uint16_t bits);

/// The number of TF32 (an f32 whose fraction has 10 bits; the other 13 are zero) nearest to
/// `value`, ties to even; NaN stays NaN.
[[nodiscard]] float to_tf32(float value);

}  // namespace morton
