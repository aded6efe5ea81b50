// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/matrix_product.hpp"

namespace morton::ops {

/// Products of 8-bit matrices: the sum over k of (a[m,k] - za) * (b[k,n] - zb), in 32 bits.
///
/// The zero point za is one number or one for each row of A, zb one number or one for each column
/// of B. No kernel takes them off its operands. The sum is
///
///     sum of a*b - zb * (sum over k of a) - za * (sum over k of b - K * zb),
///
/// so a pass (passes/expand_integer_products.cpp) writes the sums of rows and columns as nodes of
/// their own, and the rest as the product's epilogue.
/// Source: gemmlowp takes its offsets off in the same way.

/// Where a node has the operands of such a product. A is input 0; a zero point may be absent.
struct IntegerOperands {
  std::size_t b = 1, zero_a = 2, zero_b = 3;
};

/// Input `input` of a node: a number for all, or one for each row of A (column of B, row of the
/// result). Its elements, taken row-major as `shape`, broadcast to the result in whose place a
/// vector A has a row and a vector B a column. Empty of one number.
struct PerLine {
  std::size_t input = 0;
  Shape shape;
};

struct IntegerProduct {
  MatrixProduct matrices;
  IntegerOperands operands;
  std::optional<PerLine> zero_a, zero_b;  ///< none: 0
};

/// Throws ModelError where shapes or types do not fit, UnsupportedError where K is so large that a
/// sum may not fit 32 bits.
[[nodiscard]] IntegerProduct integer_product(const NodeView& node, const IntegerOperands& operands);

/// Whose lines numbers are for.
enum class Lines : std::uint8_t { rows_of_a, columns_of_b, rows_of_result };
/// Input i, which has one element, one for each line of a matrix (a vector), or the operand's
/// extents with 1 along the other one. Throws ModelError for another shape.
[[nodiscard]] PerLine per_line(const NodeView& node, const MatrixProduct& product, std::size_t i,
                               Lines lines);
/// Its shape as a side operand of the node's result.
[[nodiscard]] Shape side_shape(const MatrixProduct& product, const PerLine& numbers);

/// All sums, row-major: exact.
[[nodiscard]] ReferenceTensor sums_of(const IntegerProduct& product,
                                      std::span<const ReferenceTensor> inputs);
/// The problem of a product without zero points. Throws InternalError for one with them.
[[nodiscard]] BoundProblem lower_integer_product(const NodeView& node,
                                                 const IntegerProduct& product);

}  // namespace morton::ops
