// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/resize_axis.hpp"

namespace morton::ops {

/// What Resize and Upsample share.
struct Resizing {
  enum class Kind : std::uint8_t { nearest, linear, cubic } kind = Kind::nearest;
  std::string nearest_mode = "floor";
  std::vector<ResizeAxis> axes;  ///< one for each dimension
  /// The scales are the model's own, so that the fractions stay when the image's size changes.
  bool scales_given = true;
  double cubic_coefficient = -0.75;
  bool exclude_outside = false;
};

/// `mode` as ONNX spells it: nearest, linear, cubic.
[[nodiscard]] Resizing::Kind resizing_kind(const NodeView& node, const std::string& mode);

/// One axis for each dimension of input 0, of these scales; output extents are rounded down.
[[nodiscard]] std::vector<ResizeAxis> axes_of_scales(const NodeView& node,
                                                     const std::string& coordinates,
                                                     const std::vector<float>& scales);

[[nodiscard]] std::vector<TensorType> infer_resizing(const NodeView& node,
                                                     const Resizing& resizing);
[[nodiscard]] ReferenceTensor reference_resizing(const NodeView& node, const Resizing& resizing,
                                                 const ReferenceTensor& source);
/// Nearest elements are a view of the source; the others are a resize2d of the last two dimensions.
[[nodiscard]] BoundProblem lower_resizing(const NodeView& node, const Resizing& resizing);

}  // namespace morton::ops
