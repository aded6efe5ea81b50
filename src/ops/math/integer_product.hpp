// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

/// A product of 8-bit matrices: dst[m,n] = sum over k of (a[m,k] - zero_a) * (b[k,n] - zero_b).
struct IntegerProduct {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t zero_a = 0, zero_b = 0;
};

/// The product of inputs `a` and `b` of the node, whose zero points are the constant inputs
/// `zero_a` and `zero_b` (0 where absent). Throws ModelError or UnsupportedError.
[[nodiscard]] IntegerProduct integer_product(const NodeView& node, std::size_t a, std::size_t b,
                                             std::size_t zero_a, std::size_t zero_b);
/// The constant scalar that input i is; throws UnsupportedError for anything else.
[[nodiscard]] double constant_scalar(const NodeView& node, std::size_t i);
/// All sums, row-major: exact.
[[nodiscard]] ReferenceTensor sums_of(const IntegerProduct& product, const ReferenceTensor& a,
                                      const ReferenceTensor& b);
/// The problem without an epilogue.
[[nodiscard]] BoundProblem lower_integer_product(const NodeView& node,
                                                 const IntegerProduct& product, std::size_t a,
                                                 std::size_t b);

}  // namespace morton::ops
