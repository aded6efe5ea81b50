// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

/// A [..., M, K] times B [..., K, N], the dimensions before broadcast by NumPy's rule. Where B is a
/// matrix they are rows of one product; otherwise there is a product for each of them. A vector A
/// is a matrix of one row, a vector B one of one column, and the result lacks that dimension.
struct MatrixProduct {
  Shape a, b;                      ///< as matrices
  Shape batch;                     ///< empty for one product
  Shape result;                    ///< without the dimension of a vector
  bool row_is_missing = false;     ///< in the result: A is a vector
  bool column_is_missing = false;  ///< B is
  std::int64_t m = 1, n = 0, k = 0;
};

/// The product of the node's inputs 0 and `second`. Throws ModelError where their shapes do not
/// fit.
[[nodiscard]] MatrixProduct matrix_product(const NodeView& node, std::size_t second);

/// For each product, in the order of the result, the numbers of its matrices among those of A and
/// of B. One product of many rows is one pair of zeros.
[[nodiscard]] std::vector<std::array<std::int64_t, 2>> matrices_of(const MatrixProduct& product);

/// Tensor dimensions 0 to rank - 2 joined as M (their extents M0, M1, ... where there are several),
/// and the last one, `inner`.
[[nodiscard]] View rows_of(std::size_t rank, const std::string& inner);
/// Gives the problem the extents M0, M1, ... of such dimensions.
void add_leading_rows(const Shape& matrices, Problem& problem);

/// The problem without an epilogue: of family `single` where B is a matrix, else of family
/// `batched`, whose products are numbered by B. A is the node's input 0, B input `second`.
struct ProductFamilies {
  Family single, batched;
};
[[nodiscard]] BoundProblem lower_matrix_product(const NodeView& node, std::size_t second,
                                                const ProductFamilies& families);

}  // namespace morton::ops
