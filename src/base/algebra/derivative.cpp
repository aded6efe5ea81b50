// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/derivative.hpp"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/algebra/typed_chain.hpp"

namespace morton {
namespace {

/// A derivative; nothing stands for 0 everywhere.
using Slope = std::optional<ScalarRef>;

/// Differentiates a chain forwards: beside each step goes its slope. Forwards, because a select
/// then takes one slope or the other; backwards it would multiply an overflow in the branch that is
/// not taken by 0.
class Differentiation {
 public:
  Differentiation(const Chain& chain, int input) : input_(input) {
    chain_.input_count = chain.input_count + 1;
    for (const ScalarStep& step : chain.steps) add(step);
    slope_of_result_ = slope_of(chain.result);
  }

  [[nodiscard]] std::optional<Chain> finish() {
    if (!slope_of_result_) return std::nullopt;
    chain_.result = times_gradient(*slope_of_result_);
    return without_unread_steps();
  }

 private:
  static bool is_constant(const ScalarRef& ref, double value) {
    return ref.kind == ScalarRef::Kind::constant && ref.value == value;
  }

  /// A value of the given chain as this one numbers it.
  [[nodiscard]] ScalarRef moved(const ScalarRef& ref) const {
    if (ref.kind == ScalarRef::Kind::input) return ScalarRef::input(ref.index + 1);
    if (ref.kind == ScalarRef::Kind::step) return values_[static_cast<std::size_t>(ref.index)];
    return ref;
  }

  [[nodiscard]] Slope slope_of(const ScalarRef& given) const {
    if (given.kind == ScalarRef::Kind::step) return slopes_[static_cast<std::size_t>(given.index)];
    const bool is_it = given.kind == ScalarRef::Kind::input && given.index == input_;
    return is_it ? Slope(ScalarRef::constant(1.0)) : Slope();
  }

  /// A slope that is 1 or 0 selects: a gradient that overflowed does not become NaN where it ends.
  ScalarRef times_gradient(ScalarRef slope) {
    const ScalarRef gradient = ScalarRef::input(0);
    if (slope.kind == ScalarRef::Kind::step) {
      const ScalarStep& step = chain_.steps[static_cast<std::size_t>(slope.index)];
      if (step.op == ScalarOp::select && is_constant(step.arguments[1], 1.0) &&
          is_constant(step.arguments[2], 0.0)) {
        return chain_.append(ScalarOp::select, {step.arguments[0], gradient, step.arguments[2]});
      }
    }
    return times(gradient, slope);
  }

  ScalarRef apply(ScalarOp op, ScalarRef a) { return chain_.append(op, {a}); }
  ScalarRef apply(ScalarOp op, ScalarRef a, ScalarRef b) { return chain_.append(op, {a, b}); }

  ScalarRef times(ScalarRef a, ScalarRef b) {
    if (is_constant(a, 1.0)) return b;
    if (is_constant(b, 1.0)) return a;
    if (is_constant(a, -1.0)) return apply(ScalarOp::neg, b);
    if (is_constant(b, -1.0)) return apply(ScalarOp::neg, a);
    if (a.kind == ScalarRef::Kind::constant && b.kind == ScalarRef::Kind::constant) {
      return ScalarRef::constant(a.value * b.value);
    }
    return apply(ScalarOp::mul, a, b);
  }
  /// 1 / a.
  ScalarRef inverse(ScalarRef a) { return apply(ScalarOp::div, ScalarRef::constant(1.0), a); }
  ScalarRef square(ScalarRef a) { return apply(ScalarOp::mul, a, a); }

  Slope sum(const Slope& a, const Slope& b) {
    if (!a || !b) return a ? a : b;
    return apply(ScalarOp::add, *a, *b);
  }
  Slope difference(const Slope& a, const Slope& b) {
    if (!b) return a;
    if (!a) return times(ScalarRef::constant(-1.0), *b);
    return apply(ScalarOp::sub, *a, *b);
  }
  Slope scaled(const Slope& slope, ScalarRef factor) {
    return slope ? Slope(times(*slope, factor)) : Slope();
  }
  /// `factor`, worked out only where it is used.
  template <typename Factor>
  Slope along(const Slope& slope, const Factor& factor) {
    return slope ? Slope(times(*slope, factor())) : Slope();
  }
  Slope chosen(ScalarRef condition, const Slope& a, const Slope& b) {
    if (!a && !b) return {};
    const ScalarRef zero = ScalarRef::constant(0.0);
    return chain_.append(ScalarOp::select, {condition, a.value_or(zero), b.value_or(zero)});
  }

  void add(const ScalarStep& step) {
    std::vector<ScalarRef> values;
    std::vector<Slope> slopes;
    for (const ScalarRef& argument : step.arguments) {
      values.push_back(moved(argument));
      slopes.push_back(slope_of(argument));
    }
    chain_.steps.push_back({step.op, values, step.target});
    const ScalarRef result = ScalarRef::step(static_cast<int>(chain_.steps.size()) - 1);
    values_.push_back(result);
    slopes_.push_back(facts_of(step.op).arguments == 1 ? unary(step, values[0], result, slopes[0])
                                                       : other(step.op, values, result, slopes));
  }

  /// The slope of a function of one argument `a` whose value is `y`.
  Slope unary(const ScalarStep& step, ScalarRef a, ScalarRef y, const Slope& slope) {
    const ScalarRef one = ScalarRef::constant(1.0);
    switch (step.op) {
      case ScalarOp::neg:
        return scaled(slope, ScalarRef::constant(-1.0));
      case ScalarOp::abs:
        return along(slope, [&] { return apply(ScalarOp::sign, a); });
      case ScalarOp::exp:
        return scaled(slope, y);
      case ScalarOp::expm1:
        return along(slope, [&] { return apply(ScalarOp::add, y, one); });
      case ScalarOp::log:
        return along(slope, [&] { return inverse(a); });
      case ScalarOp::log1p:
        return along(slope, [&] { return inverse(apply(ScalarOp::add, one, a)); });
      case ScalarOp::sqrt:
        return along(slope, [&] { return apply(ScalarOp::div, ScalarRef::constant(0.5), y); });
      case ScalarOp::erf:
        return along(slope, [&] {
          const ScalarRef power = apply(ScalarOp::exp, apply(ScalarOp::neg, square(a)));
          return times(ScalarRef::constant(2.0 * std::numbers::inv_sqrtpi), power);
        });
      case ScalarOp::cast:
        return is_real(step.target) ? slope : Slope();
      default:
        return circular(step.op, a, y, slope);
    }
  }

  /// The same for the circular and hyperbolic functions; floor, sign and their like have no slope.
  Slope circular(ScalarOp op, ScalarRef a, ScalarRef y, const Slope& slope) {
    const ScalarRef one = ScalarRef::constant(1.0);
    const auto less = [&](ScalarRef from, ScalarRef what) {
      return apply(ScalarOp::sub, from, what);
    };
    const auto root = [&](ScalarRef what) { return apply(ScalarOp::sqrt, what); };
    switch (op) {
      case ScalarOp::sin:
        return along(slope, [&] { return apply(ScalarOp::cos, a); });
      case ScalarOp::cos:
        return along(slope, [&] { return apply(ScalarOp::neg, apply(ScalarOp::sin, a)); });
      case ScalarOp::tan:
        return along(slope, [&] { return apply(ScalarOp::add, one, square(y)); });
      case ScalarOp::asin:
        return along(slope, [&] { return inverse(root(less(one, square(a)))); });
      case ScalarOp::acos:
        return along(slope,
                     [&] { return apply(ScalarOp::neg, inverse(root(less(one, square(a))))); });
      case ScalarOp::atan:
        return along(slope, [&] { return inverse(apply(ScalarOp::add, one, square(a))); });
      case ScalarOp::sinh:
        return along(slope, [&] { return apply(ScalarOp::cosh, a); });
      case ScalarOp::cosh:
        return along(slope, [&] { return apply(ScalarOp::sinh, a); });
      case ScalarOp::tanh:
        return along(slope, [&] { return less(one, square(y)); });
      case ScalarOp::asinh:
        return along(slope, [&] { return inverse(root(apply(ScalarOp::add, square(a), one))); });
      case ScalarOp::acosh:
        return along(slope, [&] { return inverse(root(less(square(a), one))); });
      case ScalarOp::atanh:
        return along(slope, [&] { return inverse(less(one, square(a))); });
      default:
        return {};
    }
  }

  /// The slope of a function of two or three arguments `v` whose value is `y`.
  Slope other(ScalarOp op, const std::vector<ScalarRef>& v, ScalarRef y,
              const std::vector<Slope>& slopes) {
    switch (op) {
      case ScalarOp::add:
        return sum(slopes[0], slopes[1]);
      case ScalarOp::sub:
        return difference(slopes[0], slopes[1]);
      case ScalarOp::mul:
        return sum(scaled(slopes[0], v[1]), scaled(slopes[1], v[0]));
      case ScalarOp::div: {
        const Slope top = difference(slopes[0], scaled(slopes[1], y));
        return top ? Slope(apply(ScalarOp::div, *top, v[1])) : Slope();
      }
      case ScalarOp::rem:  // a - trunc(a / b) * b
        return difference(slopes[0], along(slopes[1], [&] {
                            return apply(ScalarOp::trunc, apply(ScalarOp::div, v[0], v[1]));
                          }));
      case ScalarOp::pow:
        return sum(power_of_base(v, slopes[0]), power_of_exponent(v, y, slopes[1]));
      case ScalarOp::min:
        return chosen(takes_first(op, v), slopes[0], slopes[1]);
      case ScalarOp::max:
        return chosen(takes_first(op, v), slopes[0], slopes[1]);
      case ScalarOp::select:
        return chosen(v[0], slopes[1], slopes[2]);
      default:
        return {};
    }
  }

  /// Whether min or max follows its first argument.
  ScalarRef takes_first(ScalarOp op, const std::vector<ScalarRef>& v) {
    const bool second_is_constant = v[1].kind == ScalarRef::Kind::constant;
    const ScalarOp compared = second_is_constant ? ScalarOp::less : ScalarOp::less_equal;
    return op == ScalarOp::min ? apply(compared, v[0], v[1]) : apply(compared, v[1], v[0]);
  }

  /// b * a^(b-1), and 0 for b = 0 whatever a is.
  Slope power_of_base(const std::vector<ScalarRef>& v, const Slope& slope) {
    if (!slope || is_constant(v[1], 0.0)) return {};
    if (is_constant(v[1], 1.0)) return slope;
    if (is_constant(v[1], 2.0)) return times(*slope, times(v[1], v[0]));
    if (v[1].kind == ScalarRef::Kind::constant) {
      const ScalarRef power = apply(ScalarOp::pow, v[0], ScalarRef::constant(v[1].value - 1.0));
      return times(*slope, times(v[1], power));
    }
    const ScalarRef less = apply(ScalarOp::sub, v[1], ScalarRef::constant(1.0));
    const ScalarRef power = times(v[1], apply(ScalarOp::pow, v[0], less));
    const ScalarRef is_zero = apply(ScalarOp::equal, v[1], ScalarRef::constant(0.0));
    return times(*slope,
                 chain_.append(ScalarOp::select, {is_zero, ScalarRef::constant(0.0), power}));
  }

  /// a^b * log(a), and 0 for a = 0.
  Slope power_of_exponent(const std::vector<ScalarRef>& v, ScalarRef y, const Slope& slope) {
    if (!slope) return {};
    const ScalarRef factor = times(y, apply(ScalarOp::log, v[0]));
    const ScalarRef is_zero = apply(ScalarOp::equal, v[0], ScalarRef::constant(0.0));
    return times(*slope,
                 chain_.append(ScalarOp::select, {is_zero, ScalarRef::constant(0.0), factor}));
  }

  [[nodiscard]] Chain without_unread_steps() const {
    std::vector<char> is_read(chain_.steps.size(), 0);
    const auto read = [&](const ScalarRef& ref) {
      if (ref.kind == ScalarRef::Kind::step) is_read[static_cast<std::size_t>(ref.index)] = 1;
    };
    read(chain_.result);
    for (std::size_t i = chain_.steps.size(); i-- > 0;) {
      if (is_read[i] == 0) continue;
      for (const ScalarRef& argument : chain_.steps[i].arguments) read(argument);
    }
    Chain kept;
    kept.input_count = chain_.input_count;
    std::vector<int> numbers(chain_.steps.size(), -1);
    const auto renumbered = [&](ScalarRef ref) {
      if (ref.kind == ScalarRef::Kind::step) {
        ref.index = numbers[static_cast<std::size_t>(ref.index)];
      }
      return ref;
    };
    for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
      if (is_read[i] == 0) continue;
      ScalarStep step = chain_.steps[i];
      for (ScalarRef& argument : step.arguments) argument = renumbered(argument);
      numbers[i] = static_cast<int>(kept.steps.size());
      kept.steps.push_back(std::move(step));
    }
    kept.result = renumbered(chain_.result);
    return kept;
  }

  int input_ = 0;
  Chain chain_;
  std::vector<ScalarRef> values_;  ///< of the given chain's steps, here
  std::vector<Slope> slopes_;      ///< of the same
  Slope slope_of_result_;
};

}  // namespace

std::optional<Chain> gradient_chain(const Chain& chain, int input) {
  return Differentiation(chain, input).finish();
}

}  // namespace morton
