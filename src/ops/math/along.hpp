// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

/// What operators share that compute along some dimensions of a tensor: reductions, softmax and its
/// like, normalisations. They see the tensor as [M, L, N], L being the dimensions along which they
/// compute, joined, N those behind the last of them, and M all others.
struct Along {
  std::vector<int> outer, along, inner;  ///< the tensor's dimensions that make up M, L and N

  /// The dimensions that are not of L, in the tensor's order.
  [[nodiscard]] std::vector<int> kept() const;
};

/// Along `axes`, each once and within the rank, in any order; none leaves an L of 1.
[[nodiscard]] Along along(std::size_t rank, const std::vector<std::size_t>& axes);

/// The dimensions that `axes` name, counted from the back where negative. Throws ModelError for one
/// that does not exist or stands twice.
[[nodiscard]] std::vector<std::size_t> checked_axes(const NodeView& node,
                                                    const std::vector<std::int64_t>& axes,
                                                    std::size_t rank);

/// Number of elements that the given dimensions span.
[[nodiscard]] std::int64_t extent_of(const Shape& shape, const std::vector<int>& dimensions);

/// Offsets of all elements that the given dimensions span, the last dimension fastest.
[[nodiscard]] std::vector<std::size_t> offsets_of(const Shape& shape,
                                                  const std::vector<int>& dimensions);

/// What is left of `shape`: L's dimensions are 1, or gone.
enum class Reduced : std::uint8_t { kept_as_one, dropped };
[[nodiscard]] Shape reduced_shape(const Along& along, const Shape& shape, Reduced reduced);

/// Gives the problem the extents M, L and N, and those that its views need besides.
void set_extents(Problem& problem, const Along& along, const Shape& shape);

/// The view of a tensor of `shape` with dimensions M, L, N (or M and N with other names, and L
/// under the name `length`, whose extent then is the tensor's).
[[nodiscard]] View view_along(const Along& along, const Shape& shape,
                              const std::string& length = "L");

/// The view of the result with dimensions [first,] M, N, where `first`, unless it is empty, is a
/// dimension of 1.
[[nodiscard]] View view_of_reduced(const Along& along, const Shape& shape, Reduced reduced,
                                   const std::string& first = "");

/// Calls `visit(row)` with the offsets of the elements of each row along L, in the order of the
/// other dimensions.
template <typename Visit>
void for_each_row(const Along& along, const Shape& shape, const Visit& visit) {
  const std::vector<std::size_t> columns = offsets_of(shape, along.along);
  std::vector<std::size_t> row(columns.size());
  for (const std::size_t start : offsets_of(shape, along.kept())) {
    for (std::size_t l = 0; l < row.size(); ++l) row[l] = start + columns[l];
    visit(row);
  }
}

}  // namespace morton::ops
