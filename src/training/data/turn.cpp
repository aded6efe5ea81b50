// SPDX-License-Identifier: Apache-2.0
#include "training/data/turn.hpp"

namespace morton::training {
namespace {

constexpr int kBits = 30;
constexpr std::int64_t kOne = std::int64_t{1} << kBits;
/// A degree as radians, in units of 2^-36.
constexpr std::int64_t kDegree = 1199381129;
constexpr std::int64_t kRightAngle = 90 * kFixedOne;

/// `value` / 2^`bits`, rounded.
constexpr std::int64_t rounded(std::int64_t value, int bits) {
  return (value + (std::int64_t{1} << (bits - 1))) >> bits;
}

/// The sine's series, for -90 to 90 degrees: x (1 - x^2/(2*3) (1 - x^2/(4*5) (1 - ...))).
std::int64_t series(Fixed16 degrees) {
  const std::int64_t x = rounded(degrees * kDegree, 16 + 36 - kBits);
  const std::int64_t square = rounded(x * x, kBits);
  std::int64_t sum = kOne;
  for (std::int64_t k = 16; k >= 2; k -= 2) {
    sum = kOne - rounded(square * sum, kBits) / (k * (k + 1));
  }
  return rounded(x * sum, kBits);
}

}  // namespace

std::int64_t sine_of(Fixed16 degrees) {
  if (degrees > kRightAngle) return series(2 * kRightAngle - degrees);
  if (degrees < -kRightAngle) return series(-2 * kRightAngle - degrees);
  return series(degrees);
}

std::int64_t cosine_of(Fixed16 degrees) {
  return series(kRightAngle - (degrees < 0 ? -degrees : degrees));
}

Turn turn_of(Fixed16 degrees, Fixed16 factor) {
  const Fixed16 inverse = (kFixedOne * kFixedOne + factor / 2) / factor;
  const Fixed16 cosine = rounded(cosine_of(degrees) * inverse, kBits);
  const Fixed16 sine = rounded(sine_of(degrees) * inverse, kBits);
  return {cosine, sine, -sine, cosine};
}

}  // namespace morton::training
