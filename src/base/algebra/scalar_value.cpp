// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/scalar_value.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/algebra/conversion_value.hpp"
#include "base/error.hpp"
#include "base/numbers/small_types.hpp"

namespace morton {
namespace {

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
  const bool moves_out = distance < 0 || distance >= bits_of(type);
  const std::uint64_t bits = to_bits(value);
  if (op == ScalarOp::shift_left) {
    return moves_out ? 0 : from_bits(type, bits << static_cast<unsigned>(distance));
  }
  if (moves_out) return value < 0 ? -1 : 0;
  const auto by = static_cast<unsigned>(distance);
  if (is_unsigned(type)) return from_bits(type, bits >> by);
  return static_cast<double>(static_cast<std::int64_t>(bits) >> by);
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

/// The upper 32 bits of 2 * a * b, rounded to nearest. A shift to the right rounds down, so ties go
/// upwards.
double doubled_high(double a, double b) {
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  const std::int64_t product = static_cast<std::int64_t>(a) * static_cast<std::int64_t>(b);
  const std::int64_t high = (product + (std::int64_t{1} << 30)) >> 31;
  return static_cast<double>(std::min<std::int64_t>(high, kMost));
}

/// a / 2^(b modulo 32), rounded to nearest, ties away from zero.
double rounding_shifted(double a, double b) {
  const int distance = static_cast<int>(static_cast<std::int64_t>(b) & 31);
  const std::int64_t half = distance == 0 ? 0 : std::int64_t{1} << (distance - 1);
  const auto magnitude = static_cast<std::int64_t>(std::fabs(a));
  const auto rounded = static_cast<double>((magnitude + half) >> distance);
  return a < 0 ? -rounded : rounded;
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
    case ScalarOp::bit_and:
      return from_bits(type, x & y);
    case ScalarOp::bit_or:
      return from_bits(type, x | y);
    case ScalarOp::bit_xor:
      return from_bits(type, x ^ y);
    case ScalarOp::bit_not:
      return from_bits(type, ~x);
    case ScalarOp::doubling_high_mul:
      return doubled_high(a, b);
    case ScalarOp::rounding_shift:
      return rounding_shifted(a, b);
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

}  // namespace

double value_of(const ScalarStep& step, DType type, const ScalarArguments& v) {
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
    case ScalarOp::cast_open:
    case ScalarOp::cast_down:
    case ScalarOp::cast_open_down:
    case ScalarOp::cast_nearest:
    case ScalarOp::cast_open_nearest:
    case ScalarOp::saturate:
    case ScalarOp::bits:
      return converted(step.op, type, step.target, v[0]);
    default:
      return is_real(type) ? compute_real(step.op, v[0], v[1])
                           : compute_integer(step.op, type, v[0], v[1]);
  }
}

}  // namespace morton
