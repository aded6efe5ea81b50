// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "ops/signals/resize_table.hpp"

namespace morton::ops {

/// The dimensions before d joined, d, and those behind it joined.
[[nodiscard]] Shape around_dimension(const Shape& shape, std::size_t d);
/// What each element of the source, of `extent`, weighs in each of the result: output x extent,
/// row-major.
[[nodiscard]] std::vector<double> matrix_of(const ResizeTable& table, std::int64_t extent);
/// A matrix of `rows` rows times the middle of `value`, M x (columns) x N: M x rows x N.
[[nodiscard]] TensorId times_middle(GraphWriter& writer, TensorId value,
                                    const std::vector<double>& matrix, std::int64_t rows);

}  // namespace morton::ops
