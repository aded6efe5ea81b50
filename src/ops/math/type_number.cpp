// SPDX-License-Identifier: Apache-2.0
#include "ops/math/type_number.hpp"

#include <array>
#include <string>

namespace morton::ops {
namespace {

struct NumberedType {
  std::int64_t number;
  DType type;
};

constexpr std::array<NumberedType, 13> kNumberedTypes{{
    {1, DType::f32},
    {2, DType::u8},
    {3, DType::i8},
    {4, DType::u16},
    {5, DType::i16},
    {6, DType::i32},
    {7, DType::i64},
    {9, DType::boolean},
    {10, DType::f16},
    {11, DType::f64},
    {12, DType::u32},
    {13, DType::u64},
    {16, DType::bf16},
}};

}  // namespace

DType type_attribute(const NodeView& node, std::string_view name, DType otherwise) {
  if (!node.has(name)) return otherwise;
  const std::int64_t number = node.integer(name, 0);
  for (const NumberedType& known : kNumberedTypes) {
    if (known.number == number) return known.type;
  }
  node.unsupported("attribute '" + std::string(name) + "' is " + std::to_string(number) +
                   ", which is no element type of numbers or bool");
}

}  // namespace morton::ops
