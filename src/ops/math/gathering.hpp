// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {

/// What the operators share that read input 0 where input 1 says: Gather, GatherElements, GatherND.

/// Types of indices.
[[nodiscard]] const std::vector<DType>& index_types();

/// The element of `indices` at `at` as an index into an extent: negative ones count from the end.
/// -1 where it lies outside.
[[nodiscard]] std::int64_t wrapped_index(const ReferenceTensor& indices, std::int64_t at,
                                         std::int64_t extent);

/// Throws ModelError unless input 1 holds i64 or i32.
void check_indices(const NodeView& node);
/// Throws ModelError where an index that is known lies outside: element i of the indices goes with
/// extent i % extents.size().
void check_known_indices(const NodeView& node, const std::vector<std::int64_t>& extents);

/// A problem of family gather: the views of the source, of the indices, and the extents that they
/// index, one for each index of a tuple.
[[nodiscard]] BoundProblem gather_problem(const NodeView& node,
                                          std::vector<Expression> source_coordinates,
                                          std::vector<Expression> index_coordinates,
                                          const std::vector<std::int64_t>& indexed);

}  // namespace morton::ops
