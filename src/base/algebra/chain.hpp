// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "morton/dtype.hpp"

namespace morton {

/// The primitives that elementwise operators and epilogues are written in.
enum class ScalarOp : std::uint8_t {
  add,
  sub,
  mul,
  div,  ///< of integers: towards zero, and 0 where the divisor is 0
  rem,  ///< what `div` leaves, with the sign of the dividend; of reals C's fmod
  pow,  ///< of integers: modulo 2^bits, and 0 for a negative exponent unless the base is 1 or -1
  min,
  max,
  neg,
  abs,
  sign,  ///< -1, 0 or 1
  floor,
  ceil,
  trunc,
  round,  ///< to the nearest whole number, ties to even
  exp,
  expm1,  ///< exp(x) - 1
  log,
  log1p,  ///< log(1 + x)
  sqrt,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  equal,
  less,
  less_equal,
  logical_and,
  logical_or,
  logical_xor,
  logical_not,
  is_nan,
  is_inf,
  select,  ///< of a condition and two values: the first where it is true
  /// Of integers; a distance below 0, or of the type's width or more, moves out all bits.
  shift_left,
  shift_right,  ///< the same; the bits that come in are copies of the sign, of unsigned ones 0
  bit_and,      ///< of integers, bit by bit
  bit_or,       ///< the same
  bit_xor,      ///< the same
  bit_not,      ///< the same
  /// Of i32: the upper half of twice the product, rounded to nearest, ties upwards; the product of
  /// the least number with itself saturates. gemmlowp's SaturatingRoundingDoublingHighMul.
  doubling_high_mul,
  /// Of i32: divided by 2 to the power of the second argument, which is taken modulo 32, rounded to
  /// nearest, ties away from zero. gemmlowp's RoundingDivideByPOT.
  rounding_shift,
  /// ONNX's Cast: reals become integers towards zero, saturated, and a NaN 0; small reals take the
  /// nearest even number and saturate; f8e8m0 is rounded up.
  cast,
  cast_open,          ///< the same; small reals become a NaN or infinite where they would saturate
  cast_down,          ///< to f8e8m0, rounded down
  cast_open_down,     ///< both
  cast_nearest,       ///< to f8e8m0, the nearest power of two, ties up
  cast_open_nearest,  ///< both
  saturate,           ///< reals become integers to nearest even, saturated
  bits,               ///< the same bits as a number of another type of as many
};

/// Which types a primitive's arguments and its result may have.
enum class ScalarTyping : std::uint8_t {
  numbers,  ///< arguments and result of one type, not bool and none that is only stored
  reals,    ///< the same, of reals
  wholes,   ///< the same, of integers
  words,    ///< the same, of i32
  order,    ///< arguments as of `numbers`; result bool
  same,     ///< arguments as of `numbers`, or bool; result bool
  logic,    ///< all bool
  test,     ///< an argument that is a real; result bool
  choice,   ///< a bool, then two of the result's type
  convert,  ///< the result is of the step's `target`
};

/// What is known of a primitive: how it is written, and how exact a device must be.
struct ScalarFacts {
  ScalarOp op;
  std::string_view name;
  int arguments;
  ScalarTyping typing;
  /// OpenCL C for reals, with %0, %1 and %2 for the arguments and %t for the type. `min` and `max`
  /// keep a NaN first argument, as the host's evaluation does.
  std::string_view opencl;
  /// Largest error in units of the last place that OpenCL 1.2 allows: of f32 (its table 7.4), and
  /// of f64 (its table 7.5).
  double ulps;
  double ulps_f64;
};

[[nodiscard]] const ScalarFacts& facts_of(ScalarOp op);

/// A value of a chain: an input, a constant, or the result of an earlier step.
struct ScalarRef {
  enum class Kind : std::uint8_t { input, constant, step } kind = Kind::input;
  int index = 0;       ///< of the input or step
  double value = 0.0;  ///< of the constant
  [[nodiscard]] static ScalarRef input(int index) { return {Kind::input, index, 0.0}; }
  [[nodiscard]] static ScalarRef constant(double value) { return {Kind::constant, 0, value}; }
  [[nodiscard]] static ScalarRef step(int index) { return {Kind::step, index, 0.0}; }
  /// The index of the input or step, for a list of them.
  [[nodiscard]] std::size_t place() const { return static_cast<std::size_t>(index); }
};

struct ScalarStep {
  ScalarOp op = ScalarOp::add;
  std::vector<ScalarRef> arguments;
  DType target = DType::f32;  ///< of conversions
};

/// A number (a truth value is 0 or 1) and the largest distance at which a device's result may lie
/// from it.
struct Bounded {
  double value = 0.0;
  double error = 0.0;
};

/// A short straight-line program over scalars: the body of an elementwise node, or the epilogue of
/// a product, whose input 0 is the product's value. It is data: printed, compared, merged,
/// evaluated on the host and written out as OpenCL C. The types of its values follow from those of
/// its inputs (base/algebra/typed_chain.hpp).
struct Chain {
  int input_count = 1;
  std::vector<ScalarStep> steps;
  /// The chain's value.
  ScalarRef result = ScalarRef::input(0);

  /// Appends a step and makes it the result.
  ScalarRef append(ScalarOp op, std::vector<ScalarRef> arguments);
  /// The same for a conversion (cast, saturate).
  ScalarRef append_conversion(ScalarOp op, ScalarRef argument, DType target);
  /// True when the result is input 0 itself.
  [[nodiscard]] bool is_identity() const;
  /// This chain with input `input` replaced by `producer`'s result. `producer_inputs[i]` is the
  /// input number, in the joined chain, of the producer's input i; `own_inputs` the same for this
  /// chain's inputs (that of `input` is not used).
  [[nodiscard]] Chain after(const Chain& producer, int input, std::span<const int> producer_inputs,
                            std::span<const int> own_inputs) const;
  /// TypedChain::evaluate over inputs that are all f32.
  [[nodiscard]] Bounded evaluate(std::span<const Bounded> inputs) const;
  /// Canonical text, e.g. "tanh(add(mul(v, s1), s2))"; two chains are the same when this is.
  [[nodiscard]] std::string print() const;
  /// Arithmetic operations for each element (a transcendental counts as one).
  [[nodiscard]] std::int64_t flop() const { return static_cast<std::int64_t>(steps.size()); }
};

}  // namespace morton
