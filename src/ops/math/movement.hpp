// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {

/// What operators share that only move elements: they look at none, so any type will do
/// (`all_types`).

/// Where each element of a result of shape `shape` comes from, row-major: `place(at)` for each.
template <typename Place>
[[nodiscard]] std::vector<Origin> origins_of(const Shape& shape, const Place& place) {
  std::vector<Origin> origins;
  const std::int64_t count = element_count(shape);
  origins.reserve(static_cast<std::size_t>(count));
  Shape at(shape.size(), 0);
  for (std::int64_t left = count; left > 0; --left) {
    origins.push_back(place(at));
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return origins;
}

/// Index of the element at `at`, row-major.
[[nodiscard]] std::int64_t index_in(const Shape& shape, const Shape& at);

/// Whole numbers that an attribute gives in older opsets and input `i` in newer ones, which is then
/// known at planning; `otherwise` where neither is there.
[[nodiscard]] std::vector<std::int64_t> attribute_or_input(const NodeView& node,
                                                           std::string_view attribute,
                                                           std::size_t i,
                                                           std::vector<std::int64_t> otherwise);

/// The axes, counted from the front, of a tensor of this rank; throws ModelError where one is
/// outside or stands twice.
[[nodiscard]] std::vector<std::size_t> axes_from(const NodeView& node,
                                                 const std::vector<std::int64_t>& axes,
                                                 std::size_t rank);

/// Poses dst = src through views, as a problem of family pack with the dimensions D0, D1, ... (a
/// scalar has D0 = 1). Sizes that another image changes are extents: S0, S1, ... of the source, and
/// those that `size` names.
class Movement {
 public:
  /// Reads input `input` and writes output `output`. The dimensions are those of the output.
  Movement(const NodeView& node, std::size_t input, std::size_t output);

  /// The coordinate along dimension `d` of the problem.
  [[nodiscard]] static Expression at(std::size_t d);
  /// An extent of this name and value.
  Expression size(const std::string& name, std::int64_t value);
  /// Extent `t` of the source.
  [[nodiscard]] static Expression source_extent(std::size_t t);

  /// Element (d0, d1, ...) comes from these coordinates of the source.
  [[nodiscard]] BoundProblem read(std::vector<Expression> coordinates);
  /// The same, where the coordinates may leave the source; such elements are `outside`.
  [[nodiscard]] BoundProblem read_bounded(std::vector<Expression> coordinates, double outside);
  /// Dimension d of the result is dimension order[d] of the source.
  [[nodiscard]] BoundProblem permute(const std::vector<std::size_t>& order);

 private:
  [[nodiscard]] std::vector<Expression> source_extents() const;

  Shape source_;
  Shape result_;
  BoundProblem bound_;
  TensorId from_;
  TensorId to_;
};

/// The problem that writes input `input` as a part of the output: element (d0, d1, ...) of the
/// source goes to the same place but for dimension `axis`, where it goes `offset` further.
[[nodiscard]] BoundProblem part_problem(const NodeView& node, std::size_t input, std::size_t axis,
                                        std::int64_t offset);

/// The attribute `mode` of SpaceToDepth and DepthToSpace: whether a block's places come before the
/// channels (DCR) or behind them (CRD). Throws ModelError for another.
[[nodiscard]] bool is_depth_first(const NodeView& node);

}  // namespace morton::ops
