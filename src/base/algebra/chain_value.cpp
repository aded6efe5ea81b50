// SPDX-License-Identifier: Apache-2.0
//
// The host's evaluation of a chain, and how far a device's may lie from it.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/numbers/exact_integers.hpp"
#include "base/numbers/half.hpp"

namespace morton {
namespace {

using Numbers = std::array<double, 3>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int bits_of(DType type) { return static_cast<int>(8 * size_of(type)); }

/// A whole number as bits, modulo 2^64; what no 64-bit integer holds is saturated.
std::uint64_t to_bits(double value) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (value >= kTwo63) {
    return value >= 2 * kTwo63 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(value);
  }
  if (value <= -kTwo63) return std::uint64_t{1} << 63;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

/// The lowest bits as a number of the type.
double from_bits(DType type, std::uint64_t bits) {
  const int unused = 64 - bits_of(type);
  const std::uint64_t shifted = bits << unused;
  if (is_unsigned(type)) return static_cast<double>(shifted >> unused);
  return static_cast<double>(static_cast<std::int64_t>(shifted) >> unused);
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0) result *= base;
    base *= base;
  }
  return result;
}

double integer_power(DType type, double base, double exponent) {
  if (exponent >= 0) return from_bits(type, power(to_bits(base), to_bits(exponent)));
  if (base == 1) return 1;
  if (base == -1) return std::fmod(exponent, 2.0) == 0 ? 1 : -1;
  return 0;
}

double shifted(ScalarOp op, DType type, double value, double distance) {
  if (distance >= bits_of(type)) return 0;
  const auto by = static_cast<unsigned>(distance);
  const std::uint64_t bits = to_bits(value);
  return from_bits(type, op == ScalarOp::shift_left ? bits << by : bits >> by);
}

/// Quotient or remainder of integers, towards zero.
double divided(ScalarOp op, DType type, double a, double b) {
  if (b == 0) return 0;
  const std::uint64_t x = to_bits(a);
  const std::uint64_t y = to_bits(b);
  if (is_unsigned(type)) return from_bits(type, op == ScalarOp::div ? x / y : x % y);
  // The least number has no counterpart.
  if (b == -1) return op == ScalarOp::div ? from_bits(type, 0 - x) : 0;
  const auto left = static_cast<std::int64_t>(x);
  const auto right = static_cast<std::int64_t>(y);
  return static_cast<double>(op == ScalarOp::div ? left / right : left % right);
}

/// The primitives that integers compute in another way than reals.
double compute_integer(ScalarOp op, DType type, double a, double b) {
  const std::uint64_t x = to_bits(a);
  const std::uint64_t y = to_bits(b);
  switch (op) {
    case ScalarOp::add:
      return from_bits(type, x + y);
    case ScalarOp::sub:
      return from_bits(type, x - y);
    case ScalarOp::mul:
      return from_bits(type, x * y);
    case ScalarOp::div:
    case ScalarOp::rem:
      return divided(op, type, a, b);
    case ScalarOp::neg:
      return from_bits(type, 0 - x);
    case ScalarOp::abs:
      return from_bits(type, a < 0 ? 0 - x : x);
    case ScalarOp::pow:
      return integer_power(type, a, b);
    case ScalarOp::shift_left:
    case ScalarOp::shift_right:
      return shifted(op, type, a, b);
    case ScalarOp::bit_xor:
      return from_bits(type, x ^ y);
    default:
      break;
  }
  throw InternalError("chain: " + std::string(facts_of(op).name) + " has no integers");
}

double sign_of(double a) { return std::isnan(a) ? a : static_cast<double>((a > 0) - (a < 0)); }

/// Transcendental functions and roundings of one real.
double compute_function(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::floor:
      return std::floor(a);
    case ScalarOp::ceil:
      return std::ceil(a);
    case ScalarOp::trunc:
      return std::trunc(a);
    case ScalarOp::round:
      return std::nearbyint(a);
    case ScalarOp::exp:
      return std::exp(a);
    case ScalarOp::expm1:
      return std::expm1(a);
    case ScalarOp::log:
      return std::log(a);
    case ScalarOp::log1p:
      return std::log1p(a);
    case ScalarOp::sqrt:
      return std::sqrt(a);
    case ScalarOp::sin:
      return std::sin(a);
    case ScalarOp::cos:
      return std::cos(a);
    case ScalarOp::tan:
      return std::tan(a);
    case ScalarOp::asin:
      return std::asin(a);
    case ScalarOp::acos:
      return std::acos(a);
    case ScalarOp::atan:
      return std::atan(a);
    case ScalarOp::sinh:
      return std::sinh(a);
    case ScalarOp::cosh:
      return std::cosh(a);
    case ScalarOp::tanh:
      return std::tanh(a);
    case ScalarOp::asinh:
      return std::asinh(a);
    case ScalarOp::acosh:
      return std::acosh(a);
    case ScalarOp::atanh:
      return std::atanh(a);
    case ScalarOp::erf:
      return std::erf(a);
    default:
      break;
  }
  throw InternalError("chain: " + std::string(facts_of(op).name) + " is no function of a real");
}

/// The primitives that all types have in common; for the others `compute` asks on.
double compute_real(ScalarOp op, double a, double b) {
  switch (op) {
    case ScalarOp::add:
      return a + b;
    case ScalarOp::sub:
      return a - b;
    case ScalarOp::mul:
      return a * b;
    case ScalarOp::div:
      return a / b;
    case ScalarOp::rem:
      return std::fmod(a, b);
    case ScalarOp::pow:
      return std::pow(a, b);
    case ScalarOp::neg:
      return -a;
    case ScalarOp::abs:
      return std::fabs(a);
    default:
      return compute_function(op, a);
  }
}

double converted(ScalarOp op, DType from, DType to, double a) {
  if (to == DType::boolean) return a != 0 ? 1 : 0;
  if (!is_real(to)) {
    if (is_real(from)) return constant_in(to, op == ScalarOp::cast ? std::trunc(a) : a);
    return op == ScalarOp::cast ? from_bits(to, to_bits(a)) : constant_in(to, a);
  }
  // The error of a value that is f32 stands for its rounding.
  return to == DType::f32 && register_type(from) == DType::f32 ? a : rounded_to(to, a);
}

double compute(const ScalarStep& step, DType type, const Numbers& v) {
  switch (step.op) {
    case ScalarOp::min:
      return v[0] > v[1] ? v[1] : v[0];
    case ScalarOp::max:
      return v[0] < v[1] ? v[1] : v[0];
    case ScalarOp::sign:
      return sign_of(v[0]);
    case ScalarOp::equal:
      return v[0] == v[1] ? 1 : 0;
    case ScalarOp::less:
      return v[0] < v[1] ? 1 : 0;
    case ScalarOp::less_equal:
      return v[0] <= v[1] ? 1 : 0;
    case ScalarOp::logical_and:
      return v[0] != 0 && v[1] != 0 ? 1 : 0;
    case ScalarOp::logical_or:
      return v[0] != 0 || v[1] != 0 ? 1 : 0;
    case ScalarOp::logical_xor:
      return v[0] != v[1] ? 1 : 0;
    case ScalarOp::logical_not:
      return v[0] == 0 ? 1 : 0;
    case ScalarOp::is_nan:
      return std::isnan(v[0]) ? 1 : 0;
    case ScalarOp::is_inf:
      return std::isinf(v[0]) ? 1 : 0;
    case ScalarOp::select:
      return v[0] != 0 ? v[1] : v[2];
    case ScalarOp::cast:
    case ScalarOp::saturate:
      return converted(step.op, type, step.target, v[0]);
    default:
      return is_real(type) ? compute_real(step.op, v[0], v[1])
                           : compute_integer(step.op, type, v[0], v[1]);
  }
}

using Arguments = std::array<Bounded, 3>;

/// The largest change at the corners of the arguments' ranges, which is exact for these monotone or
/// bilinear functions and safe where a derivative is steep.
double change_at_corners(const ScalarStep& step, DType type, const Arguments& in, double value) {
  double worst = 0.0;
  for (const double x : {in[0].value - in[0].error, in[0].value + in[0].error}) {
    for (const double y : {in[1].value - in[1].error, in[1].value + in[1].error}) {
      const double moved = compute(step, type, {x, y, in[2].value});
      if (!std::isnan(moved)) worst = std::max(worst, std::fabs(moved - value));
    }
  }
  return worst;
}

/// Whether the arguments' errors leave open how they compare. Those that are exact never do.
bool may_turn(const Bounded& a, const Bounded& b) {
  const double margin = a.error + b.error;
  return margin > 0 && std::fabs(a.value - b.value) <= margin;
}

double error_of_select(const Arguments& in) {
  const Bounded& taken = in[0].value != 0 ? in[1] : in[2];
  const Bounded& other = in[0].value != 0 ? in[2] : in[1];
  if (in[0].error == 0 || taken.value == other.value) return std::max(taken.error, 0.0);
  const double apart = std::fabs(other.value - taken.value);
  return std::isnan(apart) ? kInfinity : std::max(taken.error, apart + other.error);
}

/// How far the result may move when the arguments move by their errors.
double carried_error(const ScalarStep& step, DType type, const Arguments& in, double value) {
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
      // It may wrap around anywhere within the arguments' errors.
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

/// What f32 cannot hold is infinite.
double in_range(DType type, double value) {
  constexpr double kMost = static_cast<double>(std::numeric_limits<float>::max());
  if (register_type(type) != DType::f32 || !(std::fabs(value) > kMost)) return value;
  return std::copysign(kInfinity, value);
}

}  // namespace

double wrapped(DType type, double value) { return from_bits(type, to_bits(value)); }

double rounded_to(DType type, double value) {
  switch (type) {
    case DType::f64:
      return value;
    case DType::f16:
      return static_cast<double>(from_half(to_half(static_cast<float>(value))));
    case DType::bf16:
      return static_cast<double>(from_bfloat16(to_bfloat16(static_cast<float>(value))));
    case DType::tf32:
      return static_cast<double>(to_tf32(static_cast<float>(value)));
    default:
      return constant_in(type, value);
  }
}

Bounded stored_as(DType type, const Bounded& value) {
  if (register_type(type) == type || !std::isfinite(value.value)) return value;
  Bounded stored{rounded_to(type, value.value), 0.0};
  if (!std::isfinite(stored.value)) return stored;
  for (const double moved : {value.value - value.error, value.value + value.error}) {
    const double there = rounded_to(type, moved);
    stored.error = std::max(stored.error, std::fabs(there - stored.value));
  }
  return stored;
}

Bounded TypedChain::evaluate(std::span<const Bounded> inputs) const {
  std::vector<Bounded> values;
  values.reserve(chain_.steps.size());
  const auto value_of = [&](const ScalarRef& ref, DType type) -> Bounded {
    if (ref.kind == ScalarRef::Kind::input) return inputs[static_cast<std::size_t>(ref.index)];
    if (ref.kind == ScalarRef::Kind::step) return values[static_cast<std::size_t>(ref.index)];
    const double stored = constant_in(type, ref.value);
    if (!is_real(type)) return {stored, 0.0};
    return {ref.value, std::isfinite(stored) ? std::fabs(stored - ref.value) : 0.0};
  };
  for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
    const ScalarStep& step = chain_.steps[i];
    Arguments in{};
    for (std::size_t a = 0; a < step.arguments.size(); ++a) {
      in[a] = value_of(step.arguments[a], argument_type(i, a));
    }
    const DType from = argument_type(i, step.arguments.size() - 1);
    Bounded out;
    out.value = in_range(steps_[i], compute(step, from, {in[0].value, in[1].value, in[2].value}));
    if (std::isfinite(out.value)) {
      out.error =
          carried_error(step, from, in, out.value) + rounding_of(step, steps_[i], out.value);
    }
    values.push_back(out);
  }
  return value_of(chain_.result, DType::f32);
}

}  // namespace morton
