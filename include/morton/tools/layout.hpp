// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "morton/export.hpp"
#include "morton/tensor.hpp"

namespace morton {

/// Where the elements of a tensor lie in memory.
struct LayoutMap {
  std::string layout;                   ///< as it prints: tiles of one element are left out
  std::vector<std::string> dimensions;  ///< "M", "N" of a matrix, else the layout's letters
  Shape extents;                        ///< as asked, one for each dimension
  Shape padded;                         ///< rounded up to the layout's tiles
  std::vector<std::int64_t> offsets;    ///< in elements, of all padded elements in row-major order
};

/// The map of `layout`, in R17's grammar ("R_2_4_R") for two extents, else in letters ("NCHW4c"),
/// whose extents stand in the letters' order. Throws UsageError for a text that is no layout, and
/// for extents that do not fit it or that have more than 2^20 elements together.
[[nodiscard]] MORTON_API LayoutMap layout_map(const std::string& layout, const Shape& extents);

/// A work-group of a product dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], whose work-items walk
/// along k in step.
struct ProductAccess {
  std::string lhs, rhs;                      ///< layouts in R17's grammar
  std::array<std::int64_t, 2> group{4, 16};  ///< work-items along m and n
  std::array<std::int64_t, 2> patch{2, 2};   ///< results of a work-item
  std::int64_t step = 4;                     ///< elements of k that are read together
  std::int64_t line_bytes = 64;              ///< of a cache
  std::int64_t element_bytes = 4;
};

/// Cache lines that the group needs anew.
struct FetchedLines {
  /// Of an operand.
  struct Operand {
    std::int64_t lines = 0;  ///< most in one step
    std::int64_t every = 0;  ///< steps from one fetch to the next
  };
  Operand lhs, rhs;
};

/// What R17's table 8.1 counts, for any layouts. It says nothing of time. Throws UsageError
/// for texts that are no layouts of matrices, for sizes below 1 or beyond 2^12, and for so many
/// elements that counting them takes long.
[[nodiscard]] MORTON_API FetchedLines fetched_lines(const ProductAccess& access);

}  // namespace morton
