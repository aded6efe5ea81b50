// SPDX-License-Identifier: Apache-2.0
#include "ops/math/summation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace morton::ops {

double same_sign_factor(std::int64_t length) {
  return std::max(8.0, 1.5 * std::sqrt(static_cast<double>(length)));
}

Bounded BoundedSum::result() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kMost = static_cast<double>(std::numeric_limits<float>::max());
  // It is a NaN in any order, unless a term without a bound is one.
  if (std::isnan(sum_)) return {sum_, std::isinf(carried_) ? kInfinity : 0.0};
  // A term, or the sum of some, may be more than f32 holds.
  if (std::isfinite(sum_) && magnitude_ > kMost) {
    return {sum_, kInfinity};
  }
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
