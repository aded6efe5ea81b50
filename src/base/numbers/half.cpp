// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/half.hpp"

#include <bit>
#include <cmath>

namespace morton {
namespace {

constexpr std::uint32_t kInfinityBits = 0x7f800000U;

}  // namespace

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > kInfinityBits) return static_cast<std::uint16_t>(sign | 0x7e00U);
  // 65520 is the midpoint between the largest half, 65504, and the next power of two.
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x38800000U) {
    // Subnormal result: count units of 2^-24; the current rounding mode is nearest even.
    const float units = std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24));
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(units));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  const std::uint32_t rounded = magnitude + 0x0fffU + odd;
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

float from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  float magnitude = 0.0F;
  if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else if (exponent == 0x1f) {
    magnitude = std::bit_cast<float>(kInfinityBits | (static_cast<std::uint32_t>(fraction) << 13));
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Rounding could carry a NaN's fraction away; one bit of it is kept instead.
  if ((bits & 0x7fffffffU) > kInfinityBits) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  const std::uint32_t odd = (bits >> 16) & 1U;
  return static_cast<std::uint16_t>((bits + 0x7fffU + odd) >> 16);
}

float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & kInfinityBits) == kInfinityBits) return value;
  const std::uint32_t odd = (bits >> 13) & 1U;
  return std::bit_cast<float>((bits + 0xfffU + odd) & 0xffffe000U);
}

}  // namespace morton
