// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/small_types.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace morton {
namespace {

constexpr std::array<SmallReal, 7> kSmallReals{{
    {DType::f8e4m3fn, 4, 3, 7, 0x7e, 0, 0x7f},
    {DType::f8e4m3fnuz, 4, 3, 8, 0x7f, 0, 0x80},
    {DType::f8e5m2, 5, 2, 15, 0x7b, 0x7c, 0x7e},
    {DType::f8e5m2fnuz, 5, 2, 16, 0x7f, 0, 0x80},
    {DType::f4e2m1, 2, 1, 1, 0x7, 0, 0},
    {DType::f6e2m3, 2, 3, 1, 0x1f, 0, 0},
    {DType::f6e3m2, 3, 2, 3, 0x1f, 0, 0},
}};

constexpr std::uint32_t kInfinity = 0x7f800000U;
constexpr std::uint32_t kNan = 0x7fc00000U;
constexpr int kFraction = 23;  // bits of an f32's fraction
constexpr int kBias = 127;

constexpr std::uint8_t kPowerNan = 0xff;
constexpr std::uint32_t kLeastPower = 0x00400000U;  // 2^-127, a subnormal

std::uint8_t power_code(std::uint32_t bits, OutOfRange out, PowerRounding rounding) {
  const bool saturates = out == OutOfRange::saturates;
  const std::uint32_t size = bits & 0x7fffffffU;
  if (size > kInfinity || (bits != size && size != 0)) return kPowerNan;
  if (size < kLeastPower) {
    const bool rises = size != 0 && rounding == PowerRounding::up;
    return saturates || rises ? 0 : kPowerNan;
  }
  // Of a subnormal the power is the fraction's first bit.
  std::uint32_t code = size >> kFraction;
  std::uint32_t rest = size & 0x7fffffU;
  if (code == 0) rest = (rest - kLeastPower) << 1U;
  if (rounding == PowerRounding::up && rest != 0) ++code;
  if (rounding == PowerRounding::nearest && rest >= kLeastPower) ++code;
  if (code >= kPowerNan) return saturates ? kPowerNan - 1 : kPowerNan;
  return static_cast<std::uint8_t>(code);
}

/// The magnitude's code, which may lie beyond the largest.
std::uint32_t magnitude_code(const SmallReal& format, std::uint32_t size) {
  const int dropped = kFraction - format.fraction_bits;
  const auto rounded = [](std::uint32_t value, int by) {
    return (value + ((1U << (by - 1)) - 1U) + ((value >> by) & 1U)) >> by;
  };
  const int exponent = static_cast<int>(size >> kFraction) - kBias + format.bias;
  if (exponent > 0) {
    const auto moved = static_cast<std::uint32_t>(kBias - format.bias) << format.fraction_bits;
    return rounded(size, dropped) - moved;
  }
  return rounded((size & 0x7fffffU) | 0x800000U, std::min(dropped + 1 - exponent, 25));
}

}  // namespace

const SmallReal* small_real(DType type) {
  const auto* found = std::ranges::find(kSmallReals, type, &SmallReal::type);
  return found == kSmallReals.end() ? nullptr : found;
}

bool is_stored_real(DType type) { return type == DType::f8e8m0 || small_real(type) != nullptr; }

bool is_narrow_integer(DType type) {
  return type == DType::i4 || type == DType::u4 || type == DType::i2 || type == DType::u2;
}

std::span<const DType> stored_types() {
  static constexpr std::array kTypes{
      DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz,
      DType::f8e8m0,   DType::f4e2m1,     DType::f6e2m3, DType::f6e3m2,
      DType::i4,       DType::u4,         DType::i2,     DType::u2,
  };
  return kTypes;
}

bool is_only_stored(DType type) { return is_stored_real(type) || is_narrow_integer(type); }

int bits_of(DType type) {
  if (type == DType::i4 || type == DType::u4) return 4;
  if (type == DType::i2 || type == DType::u2) return 2;
  const SmallReal* format = small_real(type);
  if (format != nullptr) return 1 + format->exponent_bits + format->fraction_bits;
  return static_cast<int>(8 * size_of(type));
}

float from_stored_real(DType type, std::uint8_t code) {
  const auto value = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const SmallReal* format = small_real(type);
  if (format == nullptr) {
    if (code == kPowerNan) return value(kNan);
    return value(code == 0 ? kLeastPower : static_cast<std::uint32_t>(code) << kFraction);
  }
  const std::uint32_t size = code & (format->sign() - 1U);
  const bool negative = (code & format->sign()) != 0;
  const std::uint32_t sign = negative ? 0x80000000U : 0U;
  if (format->has_one_zero() && negative && size == 0) return value(kNan);
  if (format->infinity != 0 && size == format->infinity) return value(sign | kInfinity);
  // The code of a NaN stays within the value, for to_stored_real.
  if (size > format->most) return value(sign | kNan | size);
  if (size >> format->fraction_bits == 0) {
    const int power = kBias + 1 - format->bias - format->fraction_bits;
    const float unit = value(static_cast<std::uint32_t>(power) << kFraction);
    const float magnitude = static_cast<float>(size) * unit;
    return negative ? -magnitude : magnitude;
  }
  const auto moved = static_cast<std::uint32_t>(kBias - format->bias) << kFraction;
  return value(sign | ((size << (kFraction - format->fraction_bits)) + moved));
}

std::uint8_t to_stored_real(DType type, float value, OutOfRange out, PowerRounding rounding) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const SmallReal* format = small_real(type);
  if (format == nullptr) return power_code(bits, out, rounding);
  const std::uint32_t size = bits & 0x7fffffffU;
  const auto sign = static_cast<std::uint8_t>(bits != size ? format->sign() : 0);
  if (size > kInfinity) return format->nan == 0 ? 0 : format->nan | sign;
  std::uint32_t code = magnitude_code(*format, size);
  if (code > format->most) {
    const bool saturates = out == OutOfRange::saturates || format->nan == 0;
    const std::uint8_t open = format->infinity != 0 ? format->infinity : format->nan;
    code = saturates ? format->most : open;
  }
  if (code == 0 && format->has_one_zero()) return 0;
  return static_cast<std::uint8_t>(code | sign);
}

std::uint8_t to_stored_real(DType type, float value) {
  const std::uint32_t size = std::bit_cast<std::uint32_t>(value) & 0x7fffffffU;
  const SmallReal* format = small_real(type);
  if (format != nullptr && size > kInfinity) {
    const auto code = static_cast<std::uint8_t>(size & (format->sign() - 1U));
    const std::uint8_t sign = std::signbit(value) ? format->sign() : 0;
    if (code > std::max(format->most, format->infinity)) return code | sign;
  }
  const bool stays = format != nullptr && format->infinity != 0 && size == kInfinity;
  const OutOfRange out = stays ? OutOfRange::stays : OutOfRange::saturates;
  return to_stored_real(type, value, out, PowerRounding::up);
}

}  // namespace morton
