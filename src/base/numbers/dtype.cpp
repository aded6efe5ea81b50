// SPDX-License-Identifier: Apache-2.0
#include "morton/dtype.hpp"

#include <array>

#include "morton/error.hpp"

namespace morton {
namespace {

struct DTypeFacts {
  DType type;
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::array<DTypeFacts, 26> kTypes{{
    {DType::f32, "f32", 4},
    {DType::f16, "f16", 2},
    {DType::f64, "f64", 8},
    {DType::i8, "i8", 1},
    {DType::u8, "u8", 1},
    {DType::i32, "i32", 4},
    {DType::i64, "i64", 8},
    {DType::boolean, "bool", 1},
    {DType::bf16, "bf16", 2},
    {DType::tf32, "tf32", 4},
    {DType::i16, "i16", 2},
    {DType::u16, "u16", 2},
    {DType::u32, "u32", 4},
    {DType::u64, "u64", 8},
    {DType::f8e4m3fn, "f8e4m3fn", 1},
    {DType::f8e4m3fnuz, "f8e4m3fnuz", 1},
    {DType::f8e5m2, "f8e5m2", 1},
    {DType::f8e5m2fnuz, "f8e5m2fnuz", 1},
    {DType::f8e8m0, "f8e8m0", 1},
    {DType::f4e2m1, "f4e2m1", 1},
    {DType::f6e2m3, "f6e2m3", 1},
    {DType::f6e3m2, "f6e3m2", 1},
    {DType::i4, "i4", 1},
    {DType::u4, "u4", 1},
    {DType::i2, "i2", 1},
    {DType::u2, "u2", 1},
}};

const DTypeFacts& facts(DType type) {
  for (const auto& entry : kTypes) {
    if (entry.type == type) return entry;
  }
  throw InternalError("dtype: value " + std::to_string(static_cast<int>(type)) + " is no DType");
}

}  // namespace

std::int64_t size_of(DType type) { return facts(type).bytes; }

std::string_view name_of(DType type) { return facts(type).name; }

DType parse_dtype(std::string_view name) {
  std::string known;
  for (const auto& entry : kTypes) {
    if (entry.name == name) return entry.type;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw UsageError("dtype: unknown element type '" + std::string(name) + "' (known: " + known +
                   ")");
}

}  // namespace morton
