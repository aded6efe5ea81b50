// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "problems/movement/roi.hpp"
#include "problems/window.hpp"

namespace morton::ops {

/// What RoiAlign and MaxRoiPool share: parts of images (input 0), whose corners are rows of input
/// 1.

/// The type of the result; rows of input 1 have `numbers` numbers. Throws ModelError.
[[nodiscard]] TensorType infer_parts(const NodeView& node, std::int64_t numbers,
                                     const SlidingWindow::Pair& pooled);

/// The problem with the operands src, rois and dst.
[[nodiscard]] BoundProblem parts_problem(const NodeView& node, Family family);

/// One channel of one image.
struct PlaneOfParts {
  /// Of image `number`, which need not exist.
  PlaneOfParts(const ReferenceTensor& source, const Shape& image, double number,
               std::int64_t channel);
  [[nodiscard]] double at(std::int64_t h, std::int64_t w) const {
    return values[static_cast<std::size_t>(h * width + w)];
  }

  bool exists = false;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::span<const double> values;
  double largest = 0.0;  ///< of their magnitudes
  double error = 0.0;    ///< the largest of theirs
};

/// What MaxRoiPool and MaxRoiPlace share.

/// The type of MaxRoiPool's result. Throws ModelError.
[[nodiscard]] TensorType infer_pooled_parts(const NodeView& node);
/// The problem of either.
[[nodiscard]] BoundProblem largest_of_bins(const NodeView& node,
                                           RoiMaxPoolStructure::Result result);

/// The first of the largest elements of a bin.
struct LargestOfBin {
  std::int64_t element = -1;  ///< its number in the input; -1: there is none
  double value = 0.0;
  double error = 0.0;    ///< of the plane's elements, the largest
  double largest = 0.0;  ///< of their magnitudes
  bool is_open = false;  ///< whether rounding may give the bin other elements
};
/// Visits the bins of all parts and channels in the result's order.
void for_each_largest(const NodeView& node, std::span<const ReferenceTensor> inputs,
                      const std::function<void(const LargestOfBin&)>& visit);

}  // namespace morton::ops
