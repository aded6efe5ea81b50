// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
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

}  // namespace morton::ops
