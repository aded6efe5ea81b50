// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"

namespace morton::ops {

/// A fraction of whole numbers in lowest terms, the denominator above 0.
struct Fraction {
  std::int64_t numerator = 0, denominator = 1;
};

/// The fraction of least denominator that rounds to `value`, an f32: 0.6f is 3/5. Throws ModelError
/// through `node` unless the value is finite and above 0, UnsupportedError where it takes numbers
/// of more than 31 bits.
[[nodiscard]] Fraction simplest_fraction(const NodeView& node, float value);

/// The nearest_mode that opset 10 has without a name: up where the dimension shrinks, else down.
inline constexpr const char* kNearestOfOpset10 = "(of opset 10)";

/// The coordinate_transformation_mode that takes a part of the source, a region.
inline constexpr const char* kCropAndResize = "tf_crop_and_resize";

/// Along one dimension: where element o of the result lies in the source,
/// (factor * o + added) / divisor, exactly.
struct ResizeAxis {
  std::int64_t extent = 0;  ///< of the source
  std::int64_t output = 0;  ///< of the result
  std::int64_t factor = 1, added = 0, divisor = 1;

  /// False where the dimension stays as it is.
  [[nodiscard]] bool resized() const { return extent != output || factor != divisor || added != 0; }
  /// The whole part of the position of element `o`, rounded down.
  [[nodiscard]] std::int64_t below(std::int64_t o) const;
  /// The axis whose `below`, kept within the source, is the nearest element as `mode`
  /// (ONNX's nearest_mode) rounds.
  [[nodiscard]] ResizeAxis nearest(const NodeView& node, std::string_view mode) const;
  /// The element of the source that `below` gives, kept within it.
  [[nodiscard]] std::int64_t element(std::int64_t o) const;
};

/// The axis that `mode`, ONNX's coordinate_transformation_mode, places from a scale and the two
/// extents. Throws ModelError for an unknown mode, UnsupportedError where the numbers are of more
/// than 31 bits.
[[nodiscard]] ResizeAxis resize_axis(const NodeView& node, std::string_view mode,
                                     std::int64_t extent, std::int64_t output,
                                     const Fraction& scale);

}  // namespace morton::ops
