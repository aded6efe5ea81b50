// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/for_tools.hpp"
#include "morton/tensor.hpp"

namespace morton {

/// Limits that every shape from outside must respect. A shape is checked before memory is allocated
/// for it.
inline constexpr std::size_t kMaxRank = 8;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

/// Number of elements, 1 for a scalar. Throws ModelError naming `what` for a negative extent, more
/// than kMaxRank dimensions or more than kMaxElements elements.
[[nodiscard]] MORTON_FOR_TOOLS std::int64_t element_count(const Shape& shape,
                                                          const char* what = "shape");

/// "1x3x224x224"; "scalar" for rank 0.
[[nodiscard]] MORTON_FOR_TOOLS std::string to_string(const Shape& shape);

/// Strides in elements of the dense row-major arrangement.
[[nodiscard]] Shape row_major_strides(const Shape& shape);

/// The shape that results from NumPy broadcasting of `a` and `b`; throws ModelError naming `what`.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b, const std::string& what);

}  // namespace morton
