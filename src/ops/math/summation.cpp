// SPDX-License-Identifier: Apache-2.0
#include "ops/math/summation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace morton::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double same_sign_factor(std::int64_t length) {
  return std::max(8.0, 1.5 * std::sqrt(static_cast<double>(length)));
}

Bounded BoundedSum::unusual_product(const Bounded& a, const Bounded& b) {
  const double product = a.value * b.value;
  if (!std::isfinite(a.error + b.error)) return {product, kInfinity};
  // Infinity times what may be 0, or of the other sign.
  const auto is_open = [](const Bounded& infinite, const Bounded& other) {
    return std::isinf(infinite.value) && other.error > 0 && std::fabs(other.value) <= other.error;
  };
  return {product, is_open(a, b) || is_open(b, a) ? kInfinity : 0.0};
}

Bounded BoundedSum::result() const {
  constexpr double kMost = static_cast<double>(std::numeric_limits<float>::max());
  if (!std::isfinite(carried_)) return {sum_, kInfinity};
  if (!std::isfinite(sum_)) return {sum_, 0.0};  // of that infinity, or of a NaN, in any order
  // A term, or the sum of some, may be more than f32 holds.
  if (magnitude_ > kMost) return {sum_, kInfinity};
  const double total = std::fabs(sum_);
  // The partial sums grow with |r|, and their roundings with them.
  const double one_sided = magnitude_ > 0 ? std::min(1.0, 2.0 * total / magnitude_) : 0.0;
  const double factor = std::max(8.0, one_sided * same_sign_factor(length_));
  // Each term may be a subnormal that flushes to zero.
  const double flushed = magnitude_ > 0 ? static_cast<double>(length_) *
                                              static_cast<double>(std::numeric_limits<float>::min())
                                        : 0.0;
  return {sum_, carried_ + factor * kUnitRoundoff * magnitude_ + kUnitRoundoff * total + flushed};
}

}  // namespace morton::ops
