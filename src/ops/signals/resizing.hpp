// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/core/gradient.hpp"
#include "ops/core/operator.hpp"
#include "ops/signals/resize_axis.hpp"

namespace morton::ops {

/// What Resize and Upsample share.
struct Resizing {
  enum class Kind : std::uint8_t { nearest, linear, cubic } kind = Kind::nearest;
  std::string nearest_mode = "floor";
  std::string coordinates = "asymmetric";  ///< ONNX's coordinate_transformation_mode
  std::vector<ResizeAxis> axes;            ///< one for each dimension
  /// The scales are the model's own, so that the fractions stay when the image's size changes.
  bool scales_given = true;
  double cubic_coefficient = -0.75;
  bool exclude_outside = false;
  /// Where a dimension shrinks, all elements of the source count.
  bool antialias = false;
  /// One scale for all dimensions, the least or the largest that the sizes ask for.
  bool keeps_aspect = false;
  std::vector<double> scales;  ///< one for each dimension
  struct Region {
    double start = 0.0, end = 1.0;
  };
  /// Of tf_crop_and_resize: the part of each dimension that becomes the result; else empty.
  std::vector<Region> regions;
  double extrapolation = 0.0;  ///< stands for what lies outside of the source there
  bool of_integers = false;    ///< which are interpolated in f32
};

/// `mode` as ONNX spells it: nearest, linear, cubic.
[[nodiscard]] Resizing::Kind resizing_kind(const NodeView& node, const std::string& mode);

/// One axis for each dimension of input 0, of these scales; output extents are rounded down.
[[nodiscard]] std::vector<ResizeAxis> axes_of_scales(const NodeView& node,
                                                     const std::string& coordinates,
                                                     const std::vector<float>& scales);

/// Whether it is composed of simpler operators, dimension by dimension; else one kernel does it.
[[nodiscard]] bool is_composed(const Resizing& resizing);
[[nodiscard]] std::vector<TensorId> expand_resizing(Expansion& expansion, const Resizing& resizing);

/// The gradient where one kernel does it: a product for each dimension.
void gradient_of_resizing(Gradient& gradient, const Resizing& resizing);

[[nodiscard]] std::vector<TensorType> infer_resizing(const NodeView& node,
                                                     const Resizing& resizing);
[[nodiscard]] ReferenceTensor reference_resizing(const NodeView& node, const Resizing& resizing,
                                                 const ReferenceTensor& source);
/// Nearest elements are a view of the source; the others are a resize2d of the last two dimensions.
[[nodiscard]] BoundProblem lower_resizing(const NodeView& node, const Resizing& resizing);

}  // namespace morton::ops
