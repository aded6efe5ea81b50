// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/conversion_value.hpp"

#include <bit>
#include <cmath>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/half.hpp"
#include "base/numbers/small_types.hpp"

namespace morton {
namespace {

/// The stored real that a cast makes.
double to_stored(ScalarOp op, DType to, double a) {
  const bool is_open = op == ScalarOp::cast_open || op == ScalarOp::cast_open_down ||
                       op == ScalarOp::cast_open_nearest;
  PowerRounding rounding = PowerRounding::up;
  if (op == ScalarOp::cast_down || op == ScalarOp::cast_open_down) rounding = PowerRounding::down;
  if (op == ScalarOp::cast_nearest || op == ScalarOp::cast_open_nearest) {
    rounding = PowerRounding::nearest;
  }
  const OutOfRange out = is_open ? OutOfRange::stays : OutOfRange::saturates;
  const std::uint8_t code = to_stored_real(to, static_cast<float>(a), out, rounding);
  return static_cast<double>(from_stored_real(to, code));
}

/// The bits of a number, the lowest first.
std::uint64_t pattern_of(DType type, double a) {
  const auto single = static_cast<float>(a);
  if (type == DType::f64) return std::bit_cast<std::uint64_t>(a);
  if (type == DType::f32) return std::bit_cast<std::uint32_t>(single);
  if (type == DType::f16) return to_half(single);
  if (type == DType::bf16) return to_bfloat16(single);
  if (is_stored_real(type)) return to_stored_real(type, single);
  const std::uint64_t bits = to_bits(a);
  const int unused = 64 - bits_of(type);
  return bits << unused >> unused;
}

double reinterpreted(DType from, DType to, double a) {
  const std::uint64_t bits = pattern_of(from, a);
  if (to == DType::f64) return std::bit_cast<double>(bits);
  if (to == DType::boolean) return bits != 0 ? 1 : 0;
  const auto word = static_cast<std::uint32_t>(bits);
  const auto half = static_cast<std::uint16_t>(bits);
  if (to == DType::f32) return static_cast<double>(std::bit_cast<float>(word));
  if (to == DType::f16) return static_cast<double>(from_half(half));
  if (to == DType::bf16) return static_cast<double>(from_bfloat16(half));
  if (!is_stored_real(to)) return from_bits(to, bits);
  return static_cast<double>(from_stored_real(to, static_cast<std::uint8_t>(bits)));
}

}  // namespace

std::uint64_t to_bits(double value) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (std::isnan(value)) return 0;
  if (value >= kTwo63) {
    return value >= 2 * kTwo63 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(value);
  }
  if (value <= -kTwo63) return std::uint64_t{1} << 63;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

double from_bits(DType type, std::uint64_t bits) {
  const int unused = 64 - bits_of(type);
  const std::uint64_t shifted = bits << unused;
  const bool is_signed = !is_unsigned(type) && type != DType::u4 && type != DType::u2;
  if (!is_signed) return static_cast<double>(shifted >> unused);
  return static_cast<double>(static_cast<std::int64_t>(shifted) >> unused);
}

double converted(ScalarOp op, DType from, DType to, double a) {
  if (op == ScalarOp::bits) return reinterpreted(from, to, a);
  if (to == DType::boolean) return a != 0 ? 1 : 0;
  if (is_stored_real(to)) return to_stored(op, to, a);
  if (!is_real(to)) {
    const bool of_real = is_real(from) || is_stored_real(from);
    if (op == ScalarOp::saturate) return constant_in(to, a);
    if (!of_real) return from_bits(to, to_bits(a));
    // Of integers of a few bits the lowest stay, whatever they come from.
    if (!is_narrow_integer(to)) return constant_in(to, std::trunc(a));
    return from_bits(to, to_bits(constant_in(DType::i32, std::trunc(a))));
  }
  // The error of a value that is f32 stands for its rounding.
  return to == DType::f32 && register_type(from) == DType::f32 ? a : rounded_to(to, a);
}

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

}  // namespace morton
