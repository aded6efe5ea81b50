// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/slope_rules.hpp"

#include <numbers>

#include "base/algebra/typed_chain.hpp"

namespace morton {

Slope SlopeRules::of(const ScalarStep& step, ScalarRef result, const std::vector<Slope>& slopes) {
  return facts_of(step.op).arguments == 1 ? unary(step, result, slopes[0])
                                          : other(step.op, step.arguments, result, slopes);
}

/// The slope of a function of one argument `a` whose value is `y`.
Slope SlopeRules::unary(const ScalarStep& step, ScalarRef y, const Slope& slope) {
  const ScalarRef a = step.arguments[0];
  const ScalarRef one = ScalarRef::constant(1.0);
  switch (step.op) {
    case ScalarOp::neg:
      return to_.scaled(slope, ScalarRef::constant(-1.0));
    case ScalarOp::abs:
      return to_.along(slope, [&] { return to_.apply(ScalarOp::sign, a); });
    case ScalarOp::exp:
      return to_.scaled(slope, y);
    case ScalarOp::expm1:
      return to_.along(slope, [&] { return to_.apply(ScalarOp::add, y, one); });
    case ScalarOp::log:
      return to_.along(slope, [&] { return to_.inverse(a); });
    case ScalarOp::log1p:
      return to_.along(slope, [&] { return to_.inverse(to_.apply(ScalarOp::add, one, a)); });
    case ScalarOp::sqrt:
      return to_.along(slope,
                       [&] { return to_.apply(ScalarOp::div, ScalarRef::constant(0.5), y); });
    case ScalarOp::erf:
      return to_.along(slope, [&] {
        const ScalarRef power = to_.apply(ScalarOp::exp, to_.apply(ScalarOp::neg, to_.square(a)));
        return to_.times(ScalarRef::constant(2.0 * std::numbers::inv_sqrtpi), power);
      });
    case ScalarOp::cast:
      return is_real(step.target) ? slope : Slope();
    default:
      return circular(step.op, a, y, slope);
  }
}

/// The same for the circular and hyperbolic functions; floor, sign and their like have no slope.
Slope SlopeRules::circular(ScalarOp op, ScalarRef a, ScalarRef y, const Slope& slope) {
  const ScalarRef one = ScalarRef::constant(1.0);
  const auto less = [&](ScalarRef from, ScalarRef what) {
    return to_.apply(ScalarOp::sub, from, what);
  };
  const auto root = [&](ScalarRef what) { return to_.apply(ScalarOp::sqrt, what); };
  switch (op) {
    case ScalarOp::sin:
      return to_.along(slope, [&] { return to_.apply(ScalarOp::cos, a); });
    case ScalarOp::cos:
      return to_.along(slope,
                       [&] { return to_.apply(ScalarOp::neg, to_.apply(ScalarOp::sin, a)); });
    case ScalarOp::tan:
      return to_.along(slope, [&] { return to_.apply(ScalarOp::add, one, to_.square(y)); });
    case ScalarOp::asin:
      return to_.along(slope, [&] { return to_.inverse(root(less(one, to_.square(a)))); });
    case ScalarOp::acos:
      return to_.along(slope, [&] {
        return to_.apply(ScalarOp::neg, to_.inverse(root(less(one, to_.square(a)))));
      });
    case ScalarOp::atan:
      return to_.along(slope,
                       [&] { return to_.inverse(to_.apply(ScalarOp::add, one, to_.square(a))); });
    case ScalarOp::sinh:
      return to_.along(slope, [&] { return to_.apply(ScalarOp::cosh, a); });
    case ScalarOp::cosh:
      return to_.along(slope, [&] { return to_.apply(ScalarOp::sinh, a); });
    case ScalarOp::tanh:
      return to_.along(slope, [&] { return less(one, to_.square(y)); });
    case ScalarOp::asinh:
      return to_.along(
          slope, [&] { return to_.inverse(root(to_.apply(ScalarOp::add, to_.square(a), one))); });
    case ScalarOp::acosh:
      return to_.along(slope, [&] { return to_.inverse(root(less(to_.square(a), one))); });
    case ScalarOp::atanh:
      return to_.along(slope, [&] { return to_.inverse(less(one, to_.square(a))); });
    default:
      return {};
  }
}

/// The slope of a function of two or three arguments `v` whose value is `y`.
Slope SlopeRules::other(ScalarOp op, const std::vector<ScalarRef>& v, ScalarRef y,
                        const std::vector<Slope>& slopes) {
  switch (op) {
    case ScalarOp::add:
      return to_.sum(slopes[0], slopes[1]);
    case ScalarOp::sub:
      return to_.difference(slopes[0], slopes[1]);
    case ScalarOp::mul:
      return to_.sum(to_.scaled(slopes[0], v[1]), to_.scaled(slopes[1], v[0]));
    case ScalarOp::div: {
      const Slope top = to_.difference(slopes[0], to_.scaled(slopes[1], y));
      return top ? Slope(to_.apply(ScalarOp::div, *top, v[1])) : Slope();
    }
    case ScalarOp::rem:  // a - trunc(a / b) * b
      return to_.difference(slopes[0], to_.along(slopes[1], [&] {
        return to_.apply(ScalarOp::trunc, to_.apply(ScalarOp::div, v[0], v[1]));
      }));
    case ScalarOp::pow:
      return to_.sum(power_of_base(v, slopes[0]), power_of_exponent(v, y, slopes[1]));
    case ScalarOp::min:
      return to_.chosen(takes_first(op, v), slopes[0], slopes[1]);
    case ScalarOp::max:
      return to_.chosen(takes_first(op, v), slopes[0], slopes[1]);
    case ScalarOp::select:
      return to_.chosen(v[0], slopes[1], slopes[2]);
    default:
      return {};
  }
}

/// Whether min or max follows its first argument.
ScalarRef SlopeRules::takes_first(ScalarOp op, const std::vector<ScalarRef>& v) {
  const bool second_is_constant = v[1].kind == ScalarRef::Kind::constant;
  const ScalarOp compared = second_is_constant ? ScalarOp::less : ScalarOp::less_equal;
  return op == ScalarOp::min ? to_.apply(compared, v[0], v[1]) : to_.apply(compared, v[1], v[0]);
}

/// b * a^(b-1), and 0 for b = 0 whatever a is.
Slope SlopeRules::power_of_base(const std::vector<ScalarRef>& v, const Slope& slope) {
  if (!slope || is_constant(v[1], 0.0)) return {};
  if (is_constant(v[1], 1.0)) return slope;
  if (is_constant(v[1], 2.0)) return to_.times(*slope, to_.times(v[1], v[0]));
  if (v[1].kind == ScalarRef::Kind::constant) {
    const ScalarRef power = to_.apply(ScalarOp::pow, v[0], ScalarRef::constant(v[1].value - 1.0));
    return to_.times(*slope, to_.times(v[1], power));
  }
  const ScalarRef less = to_.apply(ScalarOp::sub, v[1], ScalarRef::constant(1.0));
  const ScalarRef power = to_.times(v[1], to_.apply(ScalarOp::pow, v[0], less));
  const ScalarRef is_zero = to_.apply(ScalarOp::equal, v[1], ScalarRef::constant(0.0));
  return to_.times(*slope, to_.select(is_zero, ScalarRef::constant(0.0), power));
}

/// a^b * log(a), and 0 for a = 0.
Slope SlopeRules::power_of_exponent(const std::vector<ScalarRef>& v, ScalarRef y,
                                    const Slope& slope) {
  if (!slope) return {};
  const ScalarRef factor = to_.times(y, to_.apply(ScalarOp::log, v[0]));
  const ScalarRef is_zero = to_.apply(ScalarOp::equal, v[0], ScalarRef::constant(0.0));
  return to_.times(*slope, to_.select(is_zero, ScalarRef::constant(0.0), factor));
}

}  // namespace morton
