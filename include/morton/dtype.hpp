// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "morton/export.hpp"

namespace morton {

/// Element type of a tensor. Those from f8e4m3fn on are stored and converted; nothing else is
/// computed with them. Each of their elements takes a byte in memory, whatever a file makes of it.
enum class DType : std::uint8_t {
  f32,
  f16,
  f64,
  i8,
  u8,
  i32,
  i64,
  boolean,
  bf16,
  tf32,
  i16,
  u16,
  u32,
  u64,
  f8e4m3fn,    ///< 1 sign, 4 exponent and 3 fraction bits; no infinity
  f8e4m3fnuz,  ///< the same with another bias; one zero and one NaN
  f8e5m2,      ///< 5 exponent and 2 fraction bits; infinities and NaNs as IEEE 754 has them
  f8e5m2fnuz,  ///< the same with another bias; one zero, one NaN, no infinity
  f8e8m0,      ///< a power of two, from 2^-127 to 2^127, or a NaN
  f4e2m1,      ///< 4 bits: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives
  f6e2m3,      ///< 6 bits: 2 of exponent and 3 of fraction, to 7.5
  f6e3m2,      ///< 6 bits: 3 of exponent and 2 of fraction, to 28
  i4,          ///< -8 to 7
  u4,          ///< 0 to 15
  i2,          ///< -2 to 1
  u2,          ///< 0 to 3
};

/// Bytes of one element.
[[nodiscard]] MORTON_API std::int64_t size_of(DType type);

/// Short name: "f32", "f16", "f64", "i8", "u8", "i32", "i64", "bool", "bf16", "tf32", "i16", "u16",
/// "u32", "u64", "f8e4m3fn" and so on: as the enumerators are called, but for "bool".
[[nodiscard]] MORTON_API std::string_view name_of(DType type);

/// The type named `name`; throws UsageError that lists the known names.
[[nodiscard]] MORTON_API DType parse_dtype(std::string_view name);

}  // namespace morton
