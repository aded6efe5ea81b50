// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/math/movement.hpp"
#include "ops/signals/resizing.hpp"

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

/// The dimensions that scales, sizes and the region speak of: all, or those of the attribute.
std::vector<std::size_t> resized_dimensions(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  if (node.has("axes")) return axes_from(node, node.integers("axes", {}), rank);
  std::vector<std::size_t> all(rank);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

void require_one_each(const NodeView& node, const char* what, std::size_t count,
                      std::size_t expected) {
  if (count == expected) return;
  node.fail(std::to_string(count) + " " + what + " for " + std::to_string(expected) +
            (node.has("axes") ? " axes" : " dimensions"));
}

/// One scale and one extent for each dimension of the input.
struct Sizing {
  std::vector<Fraction> scales;
  Shape outputs;
};

Sizing sizing_of_scales(const NodeView& node, const std::vector<float>& scales) {
  const Shape shape = node.input(0).shape;
  const std::vector<std::size_t> dimensions = resized_dimensions(node);
  require_one_each(node, "scales", scales.size(), dimensions.size());
  Sizing sizing{std::vector<Fraction>(shape.size(), {1, 1}), shape};
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::size_t d = dimensions[i];
    sizing.scales[d] = simplest_fraction(node, scales[i]);
    sizing.outputs[d] =
        checked_mul(shape[d], sizing.scales[d].numerator, "resize") / sizing.scales[d].denominator;
    if (sizing.outputs[d] < 1 && shape[d] > 0) {
      node.fail("scale " + std::to_string(scales[i]) + " leaves nothing of " + to_string(shape));
    }
  }
  return sizing;
}

bool is_less(const Fraction& a, const Fraction& b) {
  return checked_mul(a.numerator, b.denominator, "resize") <
         checked_mul(b.numerator, a.denominator, "resize");
}

Sizing sizing_of_sizes(const NodeView& node) {
  constexpr std::size_t kSizes = 3;
  const Shape shape = node.input(0).shape;
  const std::vector<std::size_t> dimensions = resized_dimensions(node);
  const std::vector<std::int64_t> sizes = node.value_integers(kSizes);
  require_one_each(node, "sizes", sizes.size(), dimensions.size());
  Sizing sizing{std::vector<Fraction>(shape.size(), {1, 1}), shape};
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::size_t d = dimensions[i];
    if (sizes[i] < 1 || shape[d] < 1) {
      node.fail("cannot resize " + to_string(shape) + " to " + to_string(sizes));
    }
    sizing.scales[d] = {sizes[i], shape[d]};
    sizing.outputs[d] = sizes[i];
  }
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || dimensions.empty()) return sizing;
  if (policy != "not_larger" && policy != "not_smaller") {
    node.fail("keep_aspect_ratio_policy is '" + policy +
              "', expected stretch, not_larger or not_smaller");
  }
  Fraction scale = sizing.scales[dimensions[0]];
  for (const std::size_t d : dimensions) {
    const bool less = is_less(sizing.scales[d], scale);
    if (less == (policy == "not_larger")) scale = sizing.scales[d];
  }
  for (const std::size_t d : dimensions) {
    // To the nearest, ties upwards.
    sizing.scales[d] = scale;
    sizing.outputs[d] = (2 * checked_mul(shape[d], scale.numerator, "resize") + scale.denominator) /
                        (2 * scale.denominator);
    if (sizing.outputs[d] < 1) node.fail("nothing would be left of " + to_string(shape));
  }
  return sizing;
}

std::vector<Resizing::Region> regions_of(const NodeView& node) {
  const std::vector<std::size_t> dimensions = resized_dimensions(node);
  if (!holds_elements(node, 1)) {
    node.fail("coordinate_transformation_mode tf_crop_and_resize needs the region, input 1");
  }
  const Tensor& given = node.value(1);
  require_one_each(node, "pairs of the region", static_cast<std::size_t>((given.size() + 1) / 2),
                   dimensions.size());
  std::vector<Resizing::Region> regions(node.input(0).shape.size());
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const double start = given.at(at);
    const double end = given.at(at + static_cast<std::int64_t>(dimensions.size()));
    if (!std::isfinite(start) || !std::isfinite(end)) node.fail("the region is not finite");
    regions[dimensions[i]] = {start, end};
  }
  return regions;
}

Resizing resizing_of(const NodeView& node) {
  const bool early = node.opset() < kRegionSince;
  const std::size_t scales = early ? 1 : 2;
  Resizing resizing;
  resizing.kind = resizing_kind(node, node.text("mode", "nearest"));
  resizing.of_integers = !is_real(node.input(0).dtype);
  resizing.nearest_mode =
      early ? kNearestOfOpset10 : node.text("nearest_mode", "round_prefer_floor");
  resizing.cubic_coefficient = node.real("cubic_coeff_a", -0.75);
  resizing.exclude_outside = node.flag("exclude_outside", 0);
  resizing.antialias = node.flag("antialias", 0);
  resizing.coordinates =
      early ? "asymmetric" : node.text("coordinate_transformation_mode", "half_pixel");
  const bool by_scales = holds_elements(node, scales);
  if (by_scales == (!early && holds_elements(node, 3))) {
    node.fail("expected either scales or sizes");
  }
  resizing.scales_given = by_scales;
  resizing.keeps_aspect =
      !by_scales && node.text("keep_aspect_ratio_policy", "stretch") != "stretch";
  const Sizing sizing =
      by_scales ? sizing_of_scales(node, scales_at(node, scales)) : sizing_of_sizes(node);
  const Shape shape = node.input(0).shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Fraction& scale = sizing.scales[d];
    resizing.axes.push_back(
        resize_axis(node, resizing.coordinates, shape[d], sizing.outputs[d], scale));
    resizing.scales.push_back(static_cast<double>(scale.numerator) /
                              static_cast<double>(scale.denominator));
  }
  if (resizing.coordinates == kCropAndResize) {
    resizing.regions = regions_of(node);
    resizing.extrapolation = node.real("extrapolation_value", 0.0);
  }
  return resizing;
}

}  // namespace

const Operator& operator_Resize() {
  static const Operator kOperator{
      .name = "Resize",
      .inputs = {.least = 1, .most = 4, .planned = {1, 2, 3}},
      .attributes = {"mode", "nearest_mode", "coordinate_transformation_mode", "cubic_coeff_a",
                     "exclude_outside", "extrapolation_value", "antialias", "axes",
                     "keep_aspect_ratio_policy"},
      .since_opset = 10,
      .infer = [](const NodeView& node) { return infer_resizing(node, resizing_of(node)); },
      .host = {.reference =
                   [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
                     return reference_resizing(node, resizing_of(node), inputs[0]);
                   }},
      .lower = [](const NodeView& node) { return lower_resizing(node, resizing_of(node)); },
      .expand =
          [](Expansion& expansion) {
            return expand_resizing(expansion, resizing_of(expansion.node()));
          },
      .types = {DType::f32, DType::i64, DType::i32, DType::u8, DType::i8},
      .gradient =
          [](Gradient& gradient) { gradient_of_resizing(gradient, resizing_of(gradient.node())); },
  };
  return kOperator;
}

}  // namespace morton::ops
