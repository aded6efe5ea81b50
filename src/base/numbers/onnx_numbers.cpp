// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/onnx_numbers.hpp"

#include <array>

namespace morton {
namespace {

struct TypeNumber {
  std::int32_t number;
  DType type;
};

constexpr std::array<TypeNumber, 25> kNumbers{{
    {1, DType::f32},         {2, DType::u8},        {3, DType::i8},          {4, DType::u16},
    {5, DType::i16},         {6, DType::i32},       {7, DType::i64},         {9, DType::boolean},
    {10, DType::f16},        {11, DType::f64},      {12, DType::u32},        {13, DType::u64},
    {16, DType::bf16},       {17, DType::f8e4m3fn}, {18, DType::f8e4m3fnuz}, {19, DType::f8e5m2},
    {20, DType::f8e5m2fnuz}, {21, DType::u4},       {22, DType::i4},         {23, DType::f4e2m1},
    {24, DType::f8e8m0},     {25, DType::u2},       {26, DType::i2},         {27, DType::f6e2m3},
    {28, DType::f6e3m2},
}};

}  // namespace

std::optional<DType> type_of_onnx(std::int64_t number) {
  for (const TypeNumber& known : kNumbers) {
    if (known.number == number) return known.type;
  }
  return std::nullopt;
}

std::optional<std::int32_t> onnx_number_of(DType type) {
  for (const TypeNumber& known : kNumbers) {
    if (known.type == type) return known.number;
  }
  return std::nullopt;
}

}  // namespace morton
