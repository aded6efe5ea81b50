// SPDX-License-Identifier: Apache-2.0
#include "training/ranks/wire.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/numbers/half.hpp"

namespace morton::training {
namespace {

constexpr int kGreatestExponent = 14;
constexpr int kLeastScale = -100, kMostScale = 100;

/// What the values are multiplied by.
float scale_of(std::span<const float> values) {
  float greatest = 0.0F;
  for (const float value : values) {
    if (std::isfinite(value)) greatest = std::max(greatest, std::fabs(value));
  }
  if (greatest == 0.0F) return 1.0F;
  int exponent = 0;
  (void)std::frexp(greatest, &exponent);
  return std::ldexp(1.0F, std::clamp(kGreatestExponent - exponent, kLeastScale, kMostScale));
}

/// Calls `one` with the values of each scale and the place of their bytes.
template <typename Value, typename Byte, typename One>
void for_each_scale(std::span<Value> values, Byte* bytes, const One& one) {
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), kHalvesOfAScale);
    one(values.first(count), bytes);
    bytes += bytes_of_halves(count);
    values = values.subspan(count);
  }
}

}  // namespace

std::size_t bytes_of_halves(std::size_t values) {
  const std::size_t scales = (values + kHalvesOfAScale - 1) / kHalvesOfAScale;
  return scales * sizeof(float) + (values + values % 2) * sizeof(std::uint16_t);
}

void to_halves(std::span<const float> values, std::span<std::byte> bytes) {
  for_each_scale(values, bytes.data(), [](std::span<const float> some, std::byte* to) {
    const float scale = scale_of(some);
    std::memcpy(to, &scale, sizeof(scale));
    to += sizeof(scale);
    for (const float value : some) {
      const std::uint16_t half = to_half(value * scale);
      std::memcpy(to, &half, sizeof(half));
      to += sizeof(half);
    }
  });
}

void from_halves(std::span<const std::byte> bytes, std::span<float> values) {
  for_each_scale(values, bytes.data(), [](std::span<float> some, const std::byte* from) {
    float scale = 1.0F;
    std::memcpy(&scale, from, sizeof(scale));
    from += sizeof(scale);
    const float back = 1.0F / scale;
    for (float& value : some) {
      std::uint16_t half = 0;
      std::memcpy(&half, from, sizeof(half));
      from += sizeof(half);
      value = from_half(half) * back;
    }
  });
}

}  // namespace morton::training
