// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/summation.hpp"
#include "ops/nn/roi.hpp"
#include "ops/nn/roi_gradient.hpp"
#include "problems/movement/roi.hpp"

namespace morton::ops {
namespace {

using Align = RoiAlignStructure;

/// Before opset 16 corners were as given.
Align align_of(const NodeView& node) {
  Align align;
  const std::string mode = node.text("mode", "avg");
  if (mode != "avg" && mode != "max") {
    node.fail("mode '" + mode + "' is unknown; expected avg or max");
  }
  if (mode == "max") align.pool = Align::Pool::largest;
  const char* usual = node.opset() < 16 ? "output_half_pixel" : "half_pixel";
  const std::string corners = node.text("coordinate_transformation_mode", usual);
  if (corners != "half_pixel" && corners != "output_half_pixel") {
    node.fail("coordinate_transformation_mode '" + corners +
              "' is unknown; expected half_pixel or output_half_pixel");
  }
  if (corners == "output_half_pixel") align.corners = Align::Corners::as_given;
  align.samples = node.integer("sampling_ratio", 0);
  if (align.samples < 0 || align.samples > Align::kMostSamples) {
    node.fail("sampling_ratio is " + std::to_string(align.samples) + ", expected 0 to 4096");
  }
  align.scale = static_cast<float>(node.real("spatial_scale", 1.0));
  return align;
}

SlidingWindow::Pair pooled_of(const NodeView& node) {
  return {node.integer("output_height", 1), node.integer("output_width", 1)};
}

std::vector<TensorType> infer_roi_align(const NodeView& node) {
  (void)align_of(node);
  const TensorType result = infer_parts(node, 4, pooled_of(node));
  const Shape expected{result.shape[0]};
  if (node.input(2).dtype != DType::i64 || node.input(2).shape != expected) {
    node.fail("the batch indices are " + std::string(name_of(node.input(2).dtype)) + " " +
              to_string(node.input(2).shape) + ", expected i64 " + to_string(expected));
  }
  return {result};
}

/// A side of a part, how far its points may be off, and whether rounding may give it other ones.
struct BoundedSide {
  Align::Side side;
  double off = 0.0;
  bool is_open = false;
};

BoundedSide bounded_side(const Align& align, const Bounded& first, const Bounded& last,
                         std::int64_t count, std::int64_t extent) {
  BoundedSide result{align.side(first.value, last.value, count), 0.0, false};
  const double scale = std::fabs(static_cast<double>(align.scale));
  result.off =
      (first.error + last.error) * scale +
      12.0 * kUnitRoundoff * (scale * (std::fabs(first.value) + std::fabs(last.value)) + 1.0);
  const double bin = result.side.bin;
  const bool counts = align.samples == 0;
  result.is_open = counts && std::fabs(bin - std::round(bin)) <= result.off;
  for (std::int64_t o = 0; o < count; ++o) {
    for (std::int64_t s = 0; s < result.side.samples; ++s) {
      const double point = result.side.point(o, s);
      const double to_end =
          std::min(std::fabs(point + 1.0), std::fabs(point - static_cast<double>(extent)));
      result.is_open = result.is_open || to_end <= result.off;
    }
  }
  return result;
}

/// One element of dst, the points of its bin pooled.
double pooled(const Align& align, const BoundedSide& down, const BoundedSide& across,
              const PlaneOfParts& plane, std::int64_t oh, std::int64_t ow) {
  const bool mean = align.pool == Align::Pool::mean;
  double result = 0.0;
  const std::int64_t count = down.side.samples * across.side.samples;
  for (std::int64_t s = 0; s < count; ++s) {
    const auto rows = Align::between(down.side.point(oh, s / across.side.samples), plane.height);
    const auto columns =
        Align::between(across.side.point(ow, s % across.side.samples), plane.width);
    double sum = 0.0;
    double largest = 0.0;
    for (std::int64_t k = 0; rows.first >= 0 && columns.first >= 0 && k < 4; ++k) {
      const double weight = (k < 2 ? 1.0 - rows.weight : rows.weight) *
                            (k % 2 == 0 ? 1.0 - columns.weight : columns.weight);
      const double value = weight * plane.at(k < 2 ? rows.first : rows.second,
                                             k % 2 == 0 ? columns.first : columns.second);
      sum += value;
      largest = k == 0 ? value : std::max(largest, value);
    }
    if (mean) result += sum;
    if (!mean) result = s == 0 ? largest : std::max(result, largest);
  }
  return mean && count > 0 ? result / static_cast<double>(count) : result;
}

/// Points that are off by d change what lies between elements of at most v by 4 * d * v, and a
/// weight rounds a few times.
ReferenceTensor reference_roi_align(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Align align = align_of(node);
  const Shape shape = infer_roi_align(node)[0].shape;
  const Shape image = node.input(0).shape;
  ReferenceTensor result;
  result.shape = shape;
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    const auto corner = [&](std::size_t q) {
      const std::size_t at = static_cast<std::size_t>(r) * 4 + q;
      return Bounded{inputs[1].value[at], inputs[1].error[at]};
    };
    const BoundedSide across = bounded_side(align, corner(0), corner(2), shape[3], image[3]);
    const BoundedSide down = bounded_side(align, corner(1), corner(3), shape[2], image[2]);
    const double image_number = inputs[2].value[static_cast<std::size_t>(r)];
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      const PlaneOfParts plane(inputs[0], image, image_number, c);
      const double points =
          static_cast<double>(std::max<std::int64_t>(down.side.samples * across.side.samples, 1));
      const double slope =
          4.0 * (across.off + down.off) +
          (16.0 + same_sign_factor(static_cast<std::int64_t>(points))) * kUnitRoundoff +
          (across.is_open || down.is_open ? 2.0 : 0.0);
      for (std::int64_t e = 0; e < shape[2] * shape[3]; ++e) {
        result.value.push_back(
            plane.exists ? pooled(align, down, across, plane, e / shape[3], e % shape[3]) : 0.0);
        result.error.push_back(plane.exists ? slope * plane.largest + plane.error : 0.0);
      }
    }
  }
  return result;
}

BoundProblem lower_roi_align(const NodeView& node) {
  BoundProblem bound = parts_problem(node, families::roi_align);
  bound.problem.structure = numbers_of(align_of(node));
  bound.operands["batch"] = {node.input_id(2), View::identity({"R"})};
  return bound;
}

}  // namespace

const Operator& operator_RoiAlign() {
  static const Operator kOperator{
      .name = "RoiAlign",
      .inputs = {.least = 3, .most = 3},
      .attributes = {"coordinate_transformation_mode", "mode", "output_height", "output_width",
                     "sampling_ratio", "spatial_scale"},
      .since_opset = 10,
      .infer = infer_roi_align,
      .host = {.reference = reference_roi_align},
      .lower = lower_roi_align,
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i64},
      .gradient =
          [](Gradient& gradient) { gradient_of_roi_align(gradient, align_of(gradient.node())); },
  };
  return kOperator;
}

}  // namespace morton::ops
