// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

/// What operators share that compute each element by itself. Such an operator states its chain; the
/// rest follows here.

/// The chain v -> op(v), or (v, s1) -> op(v, s1).
[[nodiscard]] Chain single_step(ScalarOp op);

/// "f32, f16": as a message lists types.
[[nodiscard]] std::string list_of(const std::vector<DType>& types);

/// f32, f16, bf16 and f64.
[[nodiscard]] std::vector<DType> real_types();
/// Reals and integers: all types but bool (and tf32, which no model has).
[[nodiscard]] std::vector<DType> number_types();
/// Numbers and bool.
[[nodiscard]] std::vector<DType> plain_types();
/// These, and those that are only stored: whatever a tensor may hold.
[[nodiscard]] std::vector<DType> all_types();
/// i8, u8, i16, u16, i32, u32, i64 and u64.
[[nodiscard]] std::vector<DType> integer_types();
/// Bool alone.
[[nodiscard]] std::vector<DType> boolean_type();

/// log(1 + exp(x)) is the sum of these: max(x, 0), and log(1 + exp(-|x|)), which does not overflow.
/// Both take the same side at 0, so that their slopes there add up to the sum's, 1/2.
struct SoftplusTerms {
  ScalarRef positive, rest;
};
SoftplusTerms append_softplus(Chain& chain, ScalarRef x);

/// For each of `count` inputs, whether the chain reads it.
[[nodiscard]] std::vector<bool> inputs_read(const Chain& chain, std::size_t count);

/// An operand of a chain: its elements, taken row-major as `shape`, broadcast against the result.
struct ChainOperand {
  const ReferenceTensor* tensor = nullptr;
  Shape shape;
  DType dtype = DType::f32;
};

/// The chain for every element of a tensor of shape `result`; operand i is the chain's input i.
[[nodiscard]] ReferenceTensor evaluate(const Chain& chain, std::span<const ChainOperand> operands,
                                       const Shape& result);

/// The inputs' shapes broadcast by NumPy's rule, and the type that the operator's chain gives.
/// Throws ModelError for types that do not go together.
[[nodiscard]] std::vector<TensorType> infer_elementwise(const NodeView& node);

/// A problem of family elementwise with dimensions D0, D1, ... for those of the result (a scalar
/// has D0 = 1). src0 is the first input that has the result's shape, or input 0 in a view that
/// broadcasts it; the other inputs that the chain reads are side operands.
[[nodiscard]] BoundProblem lower_elementwise(const NodeView& node, const Chain& chain);

}  // namespace morton::ops
