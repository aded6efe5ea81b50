// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/algebra/chain.hpp"
#include "base/for_tools.hpp"

namespace morton {

/// What a value of type `type` is in a kernel's registers: f32 for f16, bf16 and tf32, whose values
/// are computed with as f32; every other type is itself.
[[nodiscard]] DType register_type(DType type);
/// f32, f64, f16, bf16, tf32.
[[nodiscard]] bool is_real(DType type);
/// u8, u16, u32, u64.
[[nodiscard]] bool is_unsigned(DType type);

/// The constant `value` as a number of this type: rounded to f32, to a stored real or to a whole
/// number, saturated.
[[nodiscard]] double constant_in(DType type, double value);

/// The whole number `value` as integers of this type overflow: its lowest bits.
[[nodiscard]] double wrapped(DType type, double value);

/// The number of this type that is nearest to `value`.
[[nodiscard]] double rounded_to(DType type, double value);
/// What lies in memory of f16, bf16 or tf32 once `value` is stored there; any other type keeps it.
[[nodiscard]] Bounded stored_as(DType type, const Bounded& value);
/// Half a unit in the last place of a number in [1, 2) that lies in memory in this type; what is
/// wider than f32 counts as f32.
[[nodiscard]] MORTON_FOR_TOOLS double unit_roundoff(DType type);

/// A chain over inputs of given types, and so the types of all its values. Arithmetic has the type
/// of its arguments, which a constant takes from the other; comparisons and logic give bool;
/// `select` has the type of what it selects; a conversion has its target. Types that are the same
/// in registers mix.
class TypedChain {
 public:
  /// Copies the chain. Throws ModelError that names the step whose arguments do not fit, or where
  /// an input has no type.
  TypedChain(Chain chain, std::vector<DType> inputs);

  [[nodiscard]] const Chain& chain() const { return chain_; }
  [[nodiscard]] const std::vector<DType>& inputs() const { return inputs_; }
  /// Type of step `i`'s result.
  [[nodiscard]] DType step_type(std::size_t i) const { return steps_[i]; }
  /// Type of argument `a` of step `i`.
  [[nodiscard]] DType argument_type(std::size_t i, std::size_t a) const;
  [[nodiscard]] DType result_type() const;
  /// Whether a value of type `type` takes part.
  [[nodiscard]] bool uses(DType type) const;

  /// The value in double, and how far a device's evaluation may be off: each input's own error is
  /// carried through every step, and every step of reals adds its rounding. Integers are exact,
  /// modulo 2^bits. Where the errors leave open how a comparison turns out, its error is 1, and
  /// that of a `select` covers both of its values. Integers of 64 bits are exact up to 2^53.
  [[nodiscard]] Bounded evaluate(std::span<const Bounded> inputs) const;
  /// The values alone, the same as `evaluate` gives, of `count` elements at a time: `inputs` has
  /// that many of each input that the chain reads. `steps` is room that is used again; the result
  /// lies there or in `inputs`.
  [[nodiscard]] std::span<const double> values(std::span<const std::vector<double>> inputs,
                                               std::size_t count,
                                               std::vector<std::vector<double>>& steps) const;

 private:
  [[nodiscard]] DType type_of(const ScalarRef& ref, DType constant) const;
  void add_step(const ScalarStep& step);

  Chain chain_;
  std::vector<DType> inputs_;
  std::vector<DType> steps_;
  std::vector<DType> constants_;  ///< for each step, the type of its arguments that are constants
};

}  // namespace morton
