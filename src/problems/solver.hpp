// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "problems/problem.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// A tensor that a problem is bound to: its elements row-major, in double precision. Of the one
/// that is written only type and shape are read.
struct SolverTensor {
  DType dtype = DType::f32;
  Shape shape;
  std::span<const double> value = {};
};

/// What a family's definition reads of a problem: its sizes, and its operands' elements through
/// their views. Refers to the problem and the tensors, which are indexed as its bindings say.
class ProblemReader {
 public:
  ProblemReader(const BoundProblem& bound, const Indexed<TensorId, SolverTensor>& tensors);

  [[nodiscard]] const Problem& problem() const { return bound_.problem; }
  /// An extent or a number of the structure. Throws InternalError for an unknown name.
  [[nodiscard]] std::int64_t size(std::string_view name) const;
  /// The structure as the family's struct.
  template <typename Structure>
  [[nodiscard]] Structure structure() const {
    return structure_of<Structure>(bound_.problem.structure);
  }

  /// The operand's element at these coordinates; the view's `outside` where it leaves the tensor.
  /// Throws InternalError where it may not.
  [[nodiscard]] double load(const std::string& operand, const Coordinates& at);
  /// The index of dst's element in its tensor; no value where a view that may leave it does.
  [[nodiscard]] std::optional<std::size_t> index_of(const std::string& operand,
                                                    const Coordinates& at);

 private:
  const BoundProblem& bound_;
  const Indexed<TensorId, SolverTensor>& tensors_;
  Environment sizes_;  ///< extents and structure, and the coordinates of the last access
};

/// The problem solved by its family's definition: dst's tensor row-major, the epilogue applied, NaN
/// where the problem writes nothing. Every kernel must agree with it, however it is written. It is
/// slow. Throws InternalError for a view that does not fit its tensor, for an element that is
/// written twice, and for an epilogue whose type is not dst's.
[[nodiscard]] MORTON_FOR_TOOLS std::vector<double> solve(
    const BoundProblem& bound, const Indexed<TensorId, SolverTensor>& tensors);

}  // namespace morton::problems
