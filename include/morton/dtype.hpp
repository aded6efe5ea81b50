// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "morton/export.hpp"

namespace morton {

/// Element type of a tensor.
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
};

/// Bytes of one element.
[[nodiscard]] MORTON_API std::int64_t size_of(DType type);

/// Short name: "f32", "f16", "f64", "i8", "u8", "i32", "i64", "bool", "bf16", "tf32", "i16", "u16",
/// "u32", "u64".
[[nodiscard]] MORTON_API std::string_view name_of(DType type);

/// The type named `name`; throws UsageError that lists the known names.
[[nodiscard]] MORTON_API DType parse_dtype(std::string_view name);

}  // namespace morton
