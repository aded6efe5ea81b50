// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/slope_writer.hpp"

namespace morton {

bool is_constant(const ScalarRef& ref, double value) {
  return ref.kind == ScalarRef::Kind::constant && ref.value == value;
}

ScalarRef SlopeWriter::times(ScalarRef a, ScalarRef b) {
  if (is_constant(a, 1.0)) return b;
  if (is_constant(b, 1.0)) return a;
  if (is_constant(a, -1.0)) return apply(ScalarOp::neg, b);
  if (is_constant(b, -1.0)) return apply(ScalarOp::neg, a);
  if (a.kind == ScalarRef::Kind::constant && b.kind == ScalarRef::Kind::constant) {
    return ScalarRef::constant(a.value * b.value);
  }
  return apply(ScalarOp::mul, a, b);
}

Slope SlopeWriter::sum(const Slope& a, const Slope& b) {
  if (!a || !b) return a ? a : b;
  return apply(ScalarOp::add, *a, *b);
}

Slope SlopeWriter::difference(const Slope& a, const Slope& b) {
  if (!b) return a;
  if (!a) return times(ScalarRef::constant(-1.0), *b);
  return apply(ScalarOp::sub, *a, *b);
}

Slope SlopeWriter::chosen(ScalarRef condition, const Slope& a, const Slope& b) {
  if (!a && !b) return {};
  const ScalarRef zero = ScalarRef::constant(0.0);
  return select(condition, a.value_or(zero), b.value_or(zero));
}

}  // namespace morton
