// SPDX-License-Identifier: Apache-2.0
//
// The host's evaluation of a chain, and how far a device's may lie from it.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/algebra/scalar_value.hpp"
#include "base/algebra/typed_chain.hpp"
#include "base/numbers/exact_integers.hpp"
#include "base/numbers/small_types.hpp"

namespace morton {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Arguments = std::array<Bounded, 3>;

/// The largest change at the corners of the arguments' ranges, which is exact for these monotone or
/// bilinear functions and safe where a derivative is steep.
double change_at_corners(const ScalarStep& step, DType type, const Arguments& in, double value) {
  double worst = 0.0;
  for (const double x : {in[0].value - in[0].error, in[0].value + in[0].error}) {
    for (const double y : {in[1].value - in[1].error, in[1].value + in[1].error}) {
      const double moved = value_of(step, type, {x, y, in[2].value});
      if (!std::isnan(moved)) worst = std::max(worst, std::fabs(moved - value));
    }
  }
  return worst;
}

/// It may be anything: any number, infinite or a NaN.
bool has_no_bound(const Bounded& one) { return !std::isfinite(one.error); }

/// Whether the arguments' errors leave open how they compare. Those that are exact never do.
bool may_turn(const Bounded& a, const Bounded& b) {
  const double margin = a.error + b.error;
  return margin > 0 && std::fabs(a.value - b.value) <= margin;
}

double error_of_select(const Arguments& in) {
  const Bounded& taken = in[0].value != 0 ? in[1] : in[2];
  const Bounded& other = in[0].value != 0 ? in[2] : in[1];
  if (in[0].error == 0) return taken.error;
  if (taken.value == other.value) return std::max(taken.error, other.error);
  const double apart = std::fabs(other.value - taken.value);
  return std::isnan(apart) ? kInfinity : std::max(taken.error, apart + other.error);
}

/// Whether whole numbers within the arguments' errors may give any result: bits stand for
/// themselves, and a product that overflows wraps around many times.
bool may_be_any(ScalarOp op, DType type, const Arguments& in) {
  if (is_real(type) || in[0].error + in[1].error == 0) return false;
  if (op == ScalarOp::mul) {
    const auto most = [](const Bounded& factor) { return std::fabs(factor.value) + factor.error; };
    return most(in[0]) * most(in[1]) >= std::ldexp(1.0, bits_of(type) - 1);
  }
  constexpr std::array kOfBits{ScalarOp::bit_and, ScalarOp::bit_or,     ScalarOp::bit_xor,
                               ScalarOp::bit_not, ScalarOp::shift_left, ScalarOp::shift_right};
  return std::ranges::find(kOfBits, op) != kOfBits.end();
}

/// How far the result may move when the arguments move by their errors.
double carried_error(const ScalarStep& step, DType type, const Arguments& in, double value) {
  if (may_be_any(step.op, type, in)) return std::ldexp(1.0, bits_of(type));
  switch (step.op) {
    case ScalarOp::equal:
    case ScalarOp::less:
    case ScalarOp::less_equal:
      return may_turn(in[0], in[1]) ? 1 : 0;
    case ScalarOp::is_nan:
    case ScalarOp::is_inf:
      return 0;
    case ScalarOp::logical_xor:
    case ScalarOp::logical_not:
      return std::max(in[0].error, in[1].error);
    case ScalarOp::sin:
    case ScalarOp::cos:
      return std::min(2.0, in[0].error);  // their slope is never above 1
    case ScalarOp::select:
      return error_of_select(in);
    case ScalarOp::rem: {
      // It may wrap around anywhere within the arguments' errors; of a divisor that may be 0 it is
      // a NaN.
      const bool may_be_zero = in[1].error > 0 && std::fabs(in[1].value) <= in[1].error;
      if (is_real(type) && may_be_zero) return kInfinity;
      const double most = std::fabs(in[1].value) + in[1].error;
      return in[0].error + in[1].error > 0 ? most : 0;
    }
    case ScalarOp::cast:
    case ScalarOp::saturate:
      if (step.target == DType::boolean) return may_turn(in[0], Bounded{}) ? 1 : 0;
      return change_at_corners(step, type, in, value);
    default:
      return change_at_corners(step, type, in, value);
  }
}

/// Of a NaN: infinite where it is one only if an argument is exactly 0, which errors leave open.
double error_of_nan(const ScalarStep& step, const Arguments& in) {
  const auto may_be_other = [](const Bounded& zero, const Bounded& infinite) {
    return zero.value == 0 && zero.error > 0 && std::isinf(infinite.value);
  };
  const bool is_open =
      step.op == ScalarOp::mul && (may_be_other(in[0], in[1]) || may_be_other(in[1], in[0]));
  if (step.op == ScalarOp::select && in[0].error == 0) {
    return has_no_bound(in[0].value != 0 ? in[1] : in[2]) ? kInfinity : 0.0;
  }
  // What is surely a NaN makes all that follows one.
  const auto is_sure = [](const Bounded& one) { return std::isnan(one.value) && one.error == 0; };
  if (std::ranges::any_of(in, is_sure)) return 0.0;
  return is_open || std::ranges::any_of(in, has_no_bound) ? kInfinity : 0.0;
}

/// What a device's arithmetic adds to the error of a step whose value is `value`.
double rounding_of(const ScalarStep& step, DType to, double value) {
  const ScalarFacts& facts = facts_of(step.op);
  const bool is_double = to == DType::f64;
  const double ulps = is_double ? facts.ulps_f64 : facts.ulps;
  // Doubles that stand for long whole numbers are rounded: this one, and what it is compared with.
  if (!is_real(to)) return std::fabs(value) >= kExactIntegers ? std::fabs(value) * 0x1p-52 : 0;
  if (ulps == 0) return 0;
  const double unit = is_double ? 0x1p-52 : 0x1p-23;  // one ulp of a number in [1, 2)
  const double smallest = is_double ? 0x1p-1022 : 0x1p-126;
  return ulps * unit * std::fabs(value) + smallest;  // a subnormal may flush to zero
}

/// The most that a result of type `to` may differ from any other.
double most_of(DType to) {
  if (is_real(to)) return kInfinity;
  return to == DType::boolean ? 1.0 : std::ldexp(1.0, bits_of(to));
}

/// What f32 cannot hold is infinite.
double in_range(DType type, double value) {
  constexpr double kMost = static_cast<double>(std::numeric_limits<float>::max());
  if (register_type(type) != DType::f32 || !(std::fabs(value) > kMost)) return value;
  return std::copysign(kInfinity, value);
}

/// Of an infinite result: infinite where the arguments' errors leave open that it is one.
double error_of_infinity(const ScalarStep& step, DType from, DType to, const Arguments& in,
                         double value) {
  if (step.op == ScalarOp::select) return error_of_select(in);
  if (std::ranges::any_of(in, has_no_bound)) return kInfinity;
  for (const double x : {in[0].value - in[0].error, in[0].value + in[0].error}) {
    for (const double y : {in[1].value - in[1].error, in[1].value + in[1].error}) {
      if (in_range(to, value_of(step, from, {x, y, in[2].value})) != value) return kInfinity;
    }
  }
  return 0.0;
}

/// How far a device's result of type `to` may lie from `value`, which is that of arguments of type
/// `from`.
double error_of(const ScalarStep& step, DType from, DType to, const Arguments& in, double value) {
  if (std::isnan(value)) return error_of_nan(step, in);
  if (std::isinf(value)) return error_of_infinity(step, from, to, in, value);
  const bool is_chosen = step.op == ScalarOp::select;
  if (!is_chosen && std::ranges::any_of(in, has_no_bound)) return most_of(to);
  return carried_error(step, from, in, value) + rounding_of(step, to, value);
}

}  // namespace

double unit_roundoff(DType type) {
  if (type == DType::bf16) return 0x1p-8;
  return type == DType::f16 || type == DType::tf32 ? 0x1p-11 : 0x1p-24;
}

Bounded stored_as(DType type, const Bounded& value) {
  if (register_type(type) == type || !std::isfinite(value.value)) return value;
  Bounded stored{rounded_to(type, value.value), 0.0};
  if (!std::isfinite(stored.value)) return stored;
  if (!std::isfinite(value.error)) return {stored.value, value.error};
  for (const double moved : {value.value - value.error, value.value + value.error}) {
    const double there = rounded_to(type, moved);
    stored.error = std::max(stored.error, std::fabs(there - stored.value));
  }
  return stored;
}

Bounded TypedChain::evaluate(std::span<const Bounded> inputs) const {
  std::vector<Bounded> values;
  values.reserve(chain_.steps.size());
  const auto referred = [&](const ScalarRef& ref, DType type) -> Bounded {
    if (ref.kind == ScalarRef::Kind::input) return inputs[ref.place()];
    if (ref.kind == ScalarRef::Kind::step) return values[ref.place()];
    const double stored = constant_in(type, ref.value);
    if (!is_real(type)) return {stored, 0.0};
    return {ref.value, std::isfinite(stored) ? std::fabs(stored - ref.value) : 0.0};
  };
  for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
    const ScalarStep& step = chain_.steps[i];
    Arguments in{};
    for (std::size_t a = 0; a < step.arguments.size(); ++a) {
      in[a] = referred(step.arguments[a], argument_type(i, a));
    }
    const DType from = argument_type(i, step.arguments.size() - 1);
    Bounded out;
    out.value = in_range(steps_[i], value_of(step, from, {in[0].value, in[1].value, in[2].value}));
    out.error = error_of(step, from, steps_[i], in, out.value);
    values.push_back(out);
  }
  return referred(chain_.result, DType::f32);
}

std::span<const double> TypedChain::values(std::span<const std::vector<double>> inputs,
                                           std::size_t count,
                                           std::vector<std::vector<double>>& steps) const {
  // Behind the steps' values: room for the constants of one step, and for a constant result.
  steps.resize(chain_.steps.size() + 3);
  const auto referred = [&](const ScalarRef& ref, DType type, std::size_t room) {
    if (ref.kind == ScalarRef::Kind::input) return std::span(inputs[ref.place()]).first(count);
    if (ref.kind == ScalarRef::Kind::step) return std::span<const double>(steps[ref.place()]);
    std::vector<double>& constants = steps[chain_.steps.size() + room];
    constants.assign(count, is_real(type) ? ref.value : constant_in(type, ref.value));
    return std::span<const double>(constants);
  };
  for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
    const ScalarStep& step = chain_.steps[i];
    std::array<std::span<const double>, 3> in;
    for (std::size_t a = 0; a < step.arguments.size(); ++a) {
      in[a] = referred(step.arguments[a], argument_type(i, a), a);
    }
    // Those that the step does not have are not looked at.
    for (std::size_t a = step.arguments.size(); a < in.size(); ++a) in[a] = in[0];
    const DType from = argument_type(i, step.arguments.size() - 1);
    std::vector<double>& out = steps[i];
    out.resize(count);
    for (std::size_t e = 0; e < count; ++e) {
      out[e] = in_range(steps_[i], value_of(step, from, {in[0][e], in[1][e], in[2][e]}));
    }
  }
  return referred(chain_.result, DType::f32, 0);
}

}  // namespace morton
