// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/resizing.hpp"

namespace morton::ops {
namespace {

/// Opset 10 has the scales as input 1; since 11 they are input 2, behind a region of interest that
/// only tf_crop_and_resize reads, and sizes may stand in their place.
constexpr std::int64_t kRegionSince = 11;

bool holds_elements(const NodeView& node, std::size_t i) {
  return node.has_input(i) && element_count(node.input(i).shape) > 0;
}

std::vector<float> scales_at(const NodeView& node, std::size_t i) {
  const Tensor& scales = node.value(i);
  if (scales.dtype() != DType::f32) {
    node.fail("the scales are " + std::string(name_of(scales.dtype())) + ", expected f32");
  }
  const auto values = scales.as<float>();
  return {values.begin(), values.end()};
}

std::vector<ResizeAxis> axes_of_sizes(const NodeView& node, const std::string& coordinates) {
  constexpr std::size_t kSizes = 3;
  const Shape shape = node.input(0).shape;
  const std::vector<std::int64_t> sizes = node.value_integers(kSizes);
  if (sizes.size() != shape.size()) {
    node.fail(std::to_string(sizes.size()) + " sizes for " + to_string(shape));
  }
  std::vector<ResizeAxis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (sizes[d] < 1 || shape[d] < 1) {
      node.fail("cannot resize " + to_string(shape) + " to " + to_string(sizes));
    }
    axes.push_back(resize_axis(node, coordinates, shape[d], sizes[d], {sizes[d], shape[d]}));
  }
  return axes;
}

Resizing resizing_of(const NodeView& node) {
  const bool early = node.opset() < kRegionSince;
  const std::size_t scales = early ? 1 : 2;
  Resizing resizing;
  resizing.kind = resizing_kind(node, node.text("mode", "nearest"));
  resizing.nearest_mode =
      early ? kNearestOfOpset10 : node.text("nearest_mode", "round_prefer_floor");
  resizing.cubic_coefficient = node.real("cubic_coeff_a", -0.75);
  resizing.exclude_outside = node.flag("exclude_outside", 0);
  const std::string coordinates =
      early ? "asymmetric" : node.text("coordinate_transformation_mode", "half_pixel");
  const bool by_scales = holds_elements(node, scales);
  if (by_scales == (!early && holds_elements(node, 3))) {
    node.fail("expected either scales or sizes");
  }
  resizing.scales_given = by_scales;
  resizing.axes = by_scales ? axes_of_scales(node, coordinates, scales_at(node, scales))
                            : axes_of_sizes(node, coordinates);
  return resizing;
}

}  // namespace

const Operator& operator_Resize() {
  static const Operator kOperator{
      .name = "Resize",
      .inputs = {.least = 1, .most = 4, .planned = {1, 2, 3}},
      .attributes = {"mode", "nearest_mode", "coordinate_transformation_mode", "cubic_coeff_a",
                     "exclude_outside", "extrapolation_value"},
      .since_opset = 10,
      .infer = [](const NodeView& node) { return infer_resizing(node, resizing_of(node)); },
      .host = {.reference =
                   [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
                     return reference_resizing(node, resizing_of(node), inputs[0]);
                   }},
      .lower = [](const NodeView& node) { return lower_resizing(node, resizing_of(node)); },
      .types = {DType::f32, DType::i64, DType::i32, DType::u8, DType::i8},
  };
  return kOperator;
}

}  // namespace morton::ops
