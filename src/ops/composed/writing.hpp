// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

/// What composed operators share. Reals of 16 bits are computed in f32.

/// The type to compute in: f32 for f16 and bf16, else the type itself.
[[nodiscard]] DType computed_type(DType type);
/// `value` in the type to compute in.
[[nodiscard]] TensorId widened(GraphWriter& writer, TensorId value);
/// The dimensions from `first` to before `last`.
[[nodiscard]] std::vector<std::int64_t> dimensions_between(std::size_t first, std::size_t last);
/// The part of `value` from `start` to before `end` along one dimension.
[[nodiscard]] TensorId part_along(GraphWriter& writer, TensorId value, std::size_t axis,
                                  std::int64_t start, std::int64_t end);
/// Tensors side by side along a dimension; one alone as it is.
[[nodiscard]] TensorId joined_along(GraphWriter& writer, const std::vector<TensorId>& parts,
                                    std::int64_t axis);
/// x / sqrt(mean of squares along `axes` + epsilon), `inverse` being 1 over that root.
struct RootMeanSquare {
  TensorId units = kNoTensor;
  TensorId inverse = kNoTensor;
};
[[nodiscard]] RootMeanSquare root_mean_square(GraphWriter& writer, TensorId x,
                                              const std::vector<std::int64_t>& axes,
                                              double epsilon);

/// A list of `count` numbers, none below `least`; without the attribute all are `least`.
[[nodiscard]] std::vector<std::int64_t> numbers_from(const NodeView& node, const char* name,
                                                     std::size_t count, std::int64_t least);

/// Throws ModelError where input `i` is no real.
void require_real(const NodeView& node, std::size_t i);
/// Throws ModelError where input `i` has not the shape that is expected: `what` says what it is.
void require_shape(const NodeView& node, std::size_t i, const Shape& expected, const char* what);
/// Throws ModelError where input `i` is not a tensor of `rank` dimensions.
void require_rank(const NodeView& node, std::size_t i, std::size_t rank, const char* what);

}  // namespace morton::ops
