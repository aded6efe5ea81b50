// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace morton {

/// The primitives that elementwise operators and epilogues are written in.
enum class ScalarOp : std::uint8_t {
  add,
  sub,
  mul,
  div,
  min,
  max,
  neg,
  abs,
  exp,
  log,
  sqrt,
  tanh,
  erf,
  round,  ///< to the nearest whole number, ties to even
};

/// What is known of a primitive: how it is written, and how exact a device must be.
struct ScalarFacts {
  ScalarOp op;
  std::string_view name;
  int arguments;
  /// OpenCL C with %0 and %1 for the arguments. `min` and `max` keep a NaN first argument, as the
  /// host's evaluation does.
  std::string_view opencl;
  /// Largest error in units of the last place of f32 that OpenCL 1.2 allows (its table 7.4).
  double ulps;
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
};

struct ScalarStep {
  ScalarOp op = ScalarOp::add;
  std::vector<ScalarRef> arguments;
};

/// A number and the largest distance at which a device's result may lie from it.
struct Bounded {
  double value = 0.0;
  double error = 0.0;
};

/// A short straight-line program over scalars: the body of an elementwise node, or the epilogue of
/// a product, whose input 0 is the product's value. It is data: printed, compared, merged,
/// evaluated on the host and written out as OpenCL C.
struct Chain {
  int input_count = 1;
  std::vector<ScalarStep> steps;
  /// The chain's value.
  ScalarRef result = ScalarRef::input(0);

  /// Appends a step and makes it the result.
  ScalarRef append(ScalarOp op, std::vector<ScalarRef> arguments);
  /// True when the result is input 0 itself.
  [[nodiscard]] bool is_identity() const;
  /// This chain with input `input` replaced by `producer`'s result. `producer_inputs[i]` is the
  /// input number, in the joined chain, of the producer's input i; `own_inputs` the same for this
  /// chain's inputs (that of `input` is not used).
  [[nodiscard]] Chain after(const Chain& producer, int input, std::span<const int> producer_inputs,
                            std::span<const int> own_inputs) const;
  /// The value in double, and how far an f32 evaluation of it may be off: each input's own error is
  /// carried to first order through every step, and every step adds its rounding.
  [[nodiscard]] Bounded evaluate(std::span<const Bounded> inputs) const;
  /// Canonical text, e.g. "tanh(add(mul(v, s1), s2))"; two chains are the same when this is.
  [[nodiscard]] std::string print() const;
  /// Arithmetic operations for each element (a transcendental counts as one).
  [[nodiscard]] std::int64_t flop() const { return static_cast<std::int64_t>(steps.size()); }
};

}  // namespace morton
