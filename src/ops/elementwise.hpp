// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "ops/operator.hpp"

namespace morton {

/// What operators share that compute each element by itself. Such an operator states its chain; the
/// rest follows here.

/// The chain v -> op(v), or (v, s1) -> op(v, s1).
[[nodiscard]] Chain single_step(ScalarOp op);

/// An operand of a chain: its elements, taken row-major as `shape`, broadcast against the result.
struct ChainOperand {
  const ReferenceTensor* tensor = nullptr;
  Shape shape;
};

/// The chain for every element of a tensor of shape `result`; operand i is the chain's input i.
[[nodiscard]] ReferenceTensor evaluate(const Chain& chain, std::span<const ChainOperand> operands,
                                       const Shape& result);

/// Inputs of one type, broadcast by NumPy's rule.
[[nodiscard]] std::vector<TensorType> infer_elementwise(const NodeView& node);

/// A problem of family elementwise with dimensions D0, D1, ... for those of the result (a scalar
/// has D0 = 1). src0 is the first input that has the result's shape, or input 0 in a view that
/// broadcasts it; the other inputs are side operands.
[[nodiscard]] BoundProblem lower_elementwise(const NodeView& node, const Chain& chain);

}  // namespace morton
