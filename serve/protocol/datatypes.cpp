// SPDX-License-Identifier: Apache-2.0
#include "protocol/datatypes.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace morton::serve {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 13> kDatatypes{{
    {DType::boolean, "BOOL"},
    {DType::u8, "UINT8"},
    {DType::u16, "UINT16"},
    {DType::u32, "UINT32"},
    {DType::u64, "UINT64"},
    {DType::i8, "INT8"},
    {DType::i16, "INT16"},
    {DType::i32, "INT32"},
    {DType::i64, "INT64"},
    {DType::f16, "FP16"},
    {DType::f32, "FP32"},
    {DType::f64, "FP64"},
    {DType::bf16, "BF16"},
}};

}  // namespace

std::string_view datatype_of(DType type) {
  const auto found =
      std::ranges::find(kDatatypes, type, &std::pair<DType, std::string_view>::first);
  return found == kDatatypes.end() ? std::string_view() : found->second;
}

std::optional<DType> dtype_of(std::string_view datatype) {
  const auto found =
      std::ranges::find(kDatatypes, datatype, &std::pair<DType, std::string_view>::second);
  if (found == kDatatypes.end()) return std::nullopt;
  return found->first;
}

}  // namespace morton::serve
