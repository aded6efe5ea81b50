// SPDX-License-Identifier: Apache-2.0
#include "ops/core/transform_error.hpp"

#include <algorithm>

namespace morton::ops {
namespace {

/// The rows and columns of one plane.
struct Plane {
  std::int64_t rows = 0, columns = 0;
};

/// Gives all errors of a tile the largest of them.
void share_largest(double* errors, const Plane& plane, std::int64_t tile) {
  for (std::int64_t top = 0; top < plane.rows; top += tile) {
    const std::int64_t bottom = std::min(top + tile, plane.rows);
    for (std::int64_t left = 0; left < plane.columns; left += tile) {
      const std::int64_t right = std::min(left + tile, plane.columns);
      double largest = 0.0;
      for (std::int64_t r = top; r < bottom; ++r) {
        const double* row = errors + r * plane.columns;
        largest = std::max(largest, *std::max_element(row + left, row + right));
      }
      for (std::int64_t r = top; r < bottom; ++r) {
        double* row = errors + r * plane.columns;
        std::fill(row + left, row + right, largest);
      }
    }
  }
}

}  // namespace

void widen(ReferenceTensor& reference, const TransformError& by) {
  const Shape& shape = reference.shape;
  if (by.tile > 1 && shape.size() >= 2 && !reference.error.empty()) {
    const Plane plane{shape[shape.size() - 2], shape.back()};
    const auto elements = static_cast<std::int64_t>(reference.error.size());
    for (std::int64_t at = 0; at < elements; at += plane.rows * plane.columns) {
      share_largest(reference.error.data() + at, plane, by.tile);
    }
  }
  for (double& error : reference.error) error *= by.slack;
}

}  // namespace morton::ops
