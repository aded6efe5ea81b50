// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "base/algebra/chain.hpp"
#include "base/rooms.hpp"

namespace morton::ops {

/// 2^-24, the unit roundoff of f32; 2^-23 is one unit in the last place of a number in [1, 2).
inline constexpr double kUnitRoundoff = 5.9604644775390625e-8;

/// The factor c of an error bound (docs/numerics.md) for a sum of `length` terms that all have one
/// sign: rounding errors then add up instead of cancelling.
[[nodiscard]] double same_sign_factor(std::int64_t length);

/// A sum in double, and how far a device's f32 sum, taken in any order, may lie from it:
/// c * u * S + u * |r|, S being the sum of the terms' magnitudes, plus the terms' own errors. c is
/// 8, or, where more, `same_sign_factor` in proportion as the terms have one sign: all of it from
/// |r| = S / 2 on. Of zero-mean terms long enough for it to matter, |r| / S is near
/// 1 / sqrt(length). Where S is more than f32 holds there is no bound: partial sums may overflow.
class BoundedSum {
 public:
  void add(const Bounded& term) {
    sum_ += term.value;
    magnitude_ += term.value < 0 ? -term.value : term.value;
    carried_ += term.error;
    ++length_;
  }
  void add_product(const Bounded& a, const Bounded& b) {
    const double x = a.value < 0 ? -a.value : a.value;
    const double y = b.value < 0 ? -b.value : b.value;
    const Bounded product{a.value * b.value, x * b.error + y * a.error + a.error * b.error};
    add(std::isfinite(product.value + product.error) ? product : unusual_product(a, b));
  }
  [[nodiscard]] Bounded result() const;

 private:
  /// Of what is infinite or a NaN, or has no bound.
  [[nodiscard]] static Bounded unusual_product(const Bounded& a, const Bounded& b);

  double sum_ = 0.0;
  double magnitude_ = 0.0;
  double carried_ = 0.0;
  std::int64_t length_ = 0;
};

}  // namespace morton::ops
