// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/gathering.hpp"
#include "problems/movement/scatter.hpp"

namespace morton::ops {

/// What the operators share that put updates (input 2) into the elements of data (input 0) that
/// indices (input 1) name.

/// The attribute `reduction`. Throws ModelError for one that ONNX does not have.
[[nodiscard]] ScatterStructure::Reduction reduction_of(const NodeView& node);

/// Throws ModelError unless data and updates are of one type.
void check_updates(const NodeView& node);

/// The data, combined with the updates in their order. `places` holds for each update the element
/// of the data that it goes to; a negative one is none.
[[nodiscard]] ReferenceTensor scattered(const NodeView& node,
                                        std::span<const ReferenceTensor> inputs,
                                        const std::vector<std::int64_t>& places);

/// `place(u)` for each update u, row-major.
template <typename Place>
[[nodiscard]] std::vector<std::int64_t> places_of_updates(const NodeView& node,
                                                          const Place& place) {
  std::vector<std::int64_t> places;
  const std::int64_t count = element_count(node.input(2).shape);
  for (std::int64_t u = 0; u < count; ++u) places.push_back(place(u));
  return places;
}

/// Names for the extents of a tensor's dimensions that are joined: `letter` for a single one, else
/// it and a number for each. Sets them, and `letter` itself, among the problem's extents.
[[nodiscard]] std::vector<Expression> joined_extents(Problem& problem, const std::string& letter,
                                                     const Shape& shape,
                                                     const std::vector<int>& dimensions);

/// The problem without its operand `index`. Its D are the dimensions of the data from `first` on,
/// as many as `indexed` has extents. `updated` are the dimensions of the updates that are M.
[[nodiscard]] BoundProblem scatter_problem(const NodeView& node, ScatterStructure structure,
                                           const std::vector<std::int64_t>& indexed,
                                           std::size_t first, std::vector<int> updated);

/// The operators that read and write at a scatter's indices.
struct ScatterNodes {
  std::string_view reader;  ///< of a tensor and `read_at`, it gives what an update has come from
  TensorId read_at;
  GraphWriter::Attributes reads{};
  std::string_view writer;  ///< the scatter itself, whose indices are input 1
  GraphWriter::Attributes writes{};
};

/// The gradients of data and updates.
void gradient_of_scatter(Gradient& gradient, const ScatterNodes& nodes);

/// Zeros of this type and shape.
[[nodiscard]] TensorId zeros(GraphWriter& writer, DType type, const Shape& shape);

}  // namespace morton::ops
