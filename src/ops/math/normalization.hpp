// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/math/along.hpp"
#include "problems/normalize.hpp"

namespace morton::ops {

/// What operators share that bring numbers to a common size: (v - mean) / sqrt(variance + epsilon)
/// and its like, along some dimensions (problems/normalize.hpp).

using Norm = NormalizeStructure::Kind;

/// Its reference. Sums may be taken in any order; the last division may be a product with a
/// reciprocal.
[[nodiscard]] ReferenceTensor reference_normalize(const Along& along, const ReferenceTensor& source,
                                                  Norm norm, double epsilon);
/// Mean and 1 / sqrt(variance + epsilon) of each row, in the order of the other dimensions.
struct RowMoments {
  std::vector<Bounded> mean, inverse_deviation;
};
[[nodiscard]] RowMoments row_moments(const Along& along, const ReferenceTensor& source,
                                     double epsilon);
/// The problem of input 0 and output 0, without what scales and shifts the result.
[[nodiscard]] BoundProblem lower_normalize(const NodeView& node, const Along& along, Norm norm,
                                           double epsilon);

/// The problem of input 0 and output `output`: 1 / sqrt(variance + epsilon), L's dimensions
/// being 1.
[[nodiscard]] BoundProblem lower_inverse_deviation(const NodeView& node, const Along& along,
                                                   double epsilon, std::size_t output);

/// v * s1 + s2, or v * s1 alone.
enum class Shift : std::uint8_t { none, added };
[[nodiscard]] Chain scale_chain(Shift shift);

}  // namespace morton::ops
