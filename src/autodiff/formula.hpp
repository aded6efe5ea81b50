// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/algebra/chain.hpp"
#include "base/rooms.hpp"

namespace morton::autodiff {

/// Writes a chain as arithmetic.
class Formula {
 public:
  using Ref = ScalarRef;

  explicit Formula(int inputs) { chain_.input_count = inputs; }
  Ref plus(Ref a, Ref b) { return chain_.append(ScalarOp::add, {a, b}); }
  Ref minus(Ref a, Ref b) { return chain_.append(ScalarOp::sub, {a, b}); }
  Ref times(Ref a, Ref b) { return chain_.append(ScalarOp::mul, {a, b}); }
  Ref times(double a, Ref b) { return times(Ref::constant(a), b); }
  Ref over(Ref a, Ref b) { return chain_.append(ScalarOp::div, {a, b}); }
  Ref root(Ref a) { return chain_.append(ScalarOp::sqrt, {a}); }
  Ref least(Ref a, Ref b) { return chain_.append(ScalarOp::min, {a, b}); }
  Ref either(Ref condition, Ref a, Ref b) {
    return chain_.append(ScalarOp::select, {condition, a, b});
  }
  Ref is_zero(Ref a) { return chain_.append(ScalarOp::equal, {a, Ref::constant(0.0)}); }
  [[nodiscard]] const Chain& chain() const { return chain_; }

 private:
  Chain chain_;
};

}  // namespace morton::autodiff
