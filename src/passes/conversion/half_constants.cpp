// SPDX-License-Identifier: Apache-2.0
#include "passes/conversion/half_constants.hpp"

#include <cmath>
#include <cstring>

#include "base/numbers/half.hpp"

namespace morton::passes {
namespace {

constexpr std::uint16_t kMagnitude = 0x7FFF;

/// How one kind of halves is written.
struct HalfKind {
  std::uint16_t (*bits_of)(float value);
  std::uint16_t infinity;  ///< one less is the largest finite number
};

constexpr HalfKind kF16{to_half, 0x7C00};
constexpr HalfKind kBf16{to_bfloat16, 0x7F80};

}  // namespace

HalfConstant half_constant(const Tensor& data, DType type) {
  const HalfKind kind = type == DType::f16 ? kF16 : kBf16;
  HalfConstant result{Tensor::allocate(type, data.shape())};
  const std::byte* from = data.stored();
  std::byte* to = result.data.mutable_data();
  const std::int64_t count = data.size();
  for (std::int64_t i = 0; i < count; ++i, from += sizeof(float), to += sizeof(std::uint16_t)) {
    float value = 0.0F;
    std::memcpy(&value, from, sizeof value);
    std::uint16_t bits = kind.bits_of(value);
    if (std::isfinite(value) && (bits & kMagnitude) == kind.infinity) {
      --bits;
      ++result.beyond;
    }
    if (count == 1 && value != 0.0F && (bits & kMagnitude) == 0) {
      ++bits;
      result.is_lifted = true;
    }
    std::memcpy(to, &bits, sizeof bits);
  }
  data.drop_pages();
  return result;
}

}  // namespace morton::passes
