// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/math/along.hpp"

namespace morton::ops {

/// What Softmax, LogSoftmax and Hardmax share: along which dimensions they work.

/// From opset 13 on the one dimension `axis` (the last one unless it is given); before, the input
/// is a matrix whose columns are all dimensions from `axis` (1) on.
[[nodiscard]] Along softmax_along(const NodeView& node);
/// The dimensions of a row.
[[nodiscard]] std::vector<std::int64_t> softmax_axes(const NodeView& node);
/// The output is of the input's type and shape.
[[nodiscard]] std::vector<TensorType> infer_softmax(const NodeView& node);
/// The problem of `family`, lacking its structure.
[[nodiscard]] BoundProblem lower_softmax(const NodeView& node, Family family);

/// A row's exponentials: with d = x - largest, exp(d) is off by a factor of e(d) = (error of d) + 3
/// ulp; the largest cancels in a quotient whatever its error. The sum adds terms of one sign.
struct ExponentialRow {
  double largest = 0.0;
  std::vector<double> value;     ///< exp(x - largest)
  std::vector<double> relative;  ///< its error as a share of it
  double sum = 0.0;
  double sum_relative = 0.0;
};
[[nodiscard]] ExponentialRow exponentials(const ReferenceTensor& source,
                                          const std::vector<std::size_t>& row);

}  // namespace morton::ops
