// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/algebra/chain.hpp"

namespace morton {

/// A derivative; nothing stands for 0 everywhere.
using Slope = std::optional<ScalarRef>;

[[nodiscard]] bool is_constant(const ScalarRef& ref, double value);

/// Appends the arithmetic of slopes to a chain, without steps for a factor of 1 or a slope of 0.
class SlopeWriter {
 public:
  explicit SlopeWriter(Chain& chain) : chain_(chain) {}

  ScalarRef apply(ScalarOp op, ScalarRef a) { return chain_.append(op, {a}); }
  ScalarRef apply(ScalarOp op, ScalarRef a, ScalarRef b) { return chain_.append(op, {a, b}); }
  ScalarRef select(ScalarRef condition, ScalarRef a, ScalarRef b) {
    return chain_.append(ScalarOp::select, {condition, a, b});
  }
  ScalarRef times(ScalarRef a, ScalarRef b);
  /// 1 / a.
  ScalarRef inverse(ScalarRef a) { return apply(ScalarOp::div, ScalarRef::constant(1.0), a); }
  ScalarRef square(ScalarRef a) { return apply(ScalarOp::mul, a, a); }

  Slope sum(const Slope& a, const Slope& b);
  Slope difference(const Slope& a, const Slope& b);
  Slope scaled(const Slope& slope, ScalarRef factor) {
    return slope ? Slope(times(*slope, factor)) : Slope();
  }
  /// `factor`, worked out only where it is used.
  template <typename Factor>
  Slope along(const Slope& slope, const Factor& factor) {
    return slope ? Slope(times(*slope, factor())) : Slope();
  }
  /// The slope that the condition selects.
  Slope chosen(ScalarRef condition, const Slope& a, const Slope& b);

 private:
  Chain& chain_;
};

}  // namespace morton
