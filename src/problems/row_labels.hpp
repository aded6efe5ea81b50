// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "problems/problem.hpp"

namespace morton::problems {

/// Marks dimensions of a tensor whose elements must stay apart: the rows of a batch, what is
/// counted late. One number for each dimension; 0 is no mark.
using RowLabels = std::vector<int>;

/// What a tensor is, for a proof.
struct LabelledTensor {
  std::string name;
  Shape shape;
  RowLabels labels;  ///< as many as dimensions, or none
  [[nodiscard]] int label(std::size_t d) const { return d < labels.size() ? labels[d] : 0; }
};

/// The marks of a result, or why there are none.
struct LabelledResult {
  RowLabels labels;
  std::string objection;  ///< empty where they are proved
};

/// Proves that element e along a marked dimension of the problem's result depends on no element of
/// what has that mark but those at e too. The proof reads the problem's views, not the operator:
/// where the result is written at coordinate e, whatever has the mark must be read at e, and e may
/// not run along a dimension that the family mixes. Extents must be greater than 1 where they are
/// marked.
[[nodiscard]] LabelledResult labels_of_result(
    const BoundProblem& bound, const std::function<LabelledTensor(TensorId)>& tensor);

/// The marks of the same elements, row-major, in another shape; an objection where a marked
/// dimension is joined with others or cut.
[[nodiscard]] LabelledResult labels_of_reshaped(const LabelledTensor& from, const Shape& shape);

}  // namespace morton::problems
