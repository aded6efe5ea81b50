// SPDX-License-Identifier: Apache-2.0
#include "ops/signals/resize_axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/numbers/checked.hpp"

namespace morton::ops {
namespace {

/// Kernels count in 32 bits with a sign.
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/// In lowest terms; throws unless every position of the result is of 31 bits.
ResizeAxis reduced(const NodeView& node, ResizeAxis axis) {
  const std::int64_t common = std::gcd(std::gcd(axis.factor, axis.added), axis.divisor);
  axis.factor /= common;
  axis.added /= common;
  axis.divisor /= common;
  const std::int64_t last = std::max<std::int64_t>(axis.output - 1, 0);
  const std::int64_t most =
      checked_add(checked_mul(axis.factor, last, "resize"), std::abs(axis.added), "resize");
  if (most > kMost || axis.divisor > kMost) {
    node.unsupported("resizing " + std::to_string(axis.extent) + " to " +
                     std::to_string(axis.output) + " takes fractions of more than 31 bits");
  }
  return axis;
}

}  // namespace

Fraction simplest_fraction(const NodeView& node, float value) {
  if (!std::isfinite(value) || !(value > 0.0F)) {
    node.fail("a scale is " + std::to_string(value) + ", expected a number above 0");
  }
  // Continued fraction: each step is the best of its size.
  double rest = value;
  std::int64_t p[2] = {1, 0};
  std::int64_t q[2] = {0, 1};
  for (int step = 0; step < 64; ++step) {
    const double whole = std::floor(rest);
    if (whole > static_cast<double>(kMost)) break;
    const auto digit = static_cast<std::int64_t>(whole);
    const std::int64_t next_p = checked_add(checked_mul(digit, p[0], "scale"), p[1], "scale");
    const std::int64_t next_q = checked_add(checked_mul(digit, q[0], "scale"), q[1], "scale");
    if (next_p > kMost || next_q > kMost) break;
    p[1] = p[0];
    q[1] = q[0];
    p[0] = next_p;
    q[0] = next_q;
    if (p[0] > 0 &&
        static_cast<float>(static_cast<double>(p[0]) / static_cast<double>(q[0])) == value) {
      return {p[0], q[0]};
    }
    if (rest == whole) break;
    rest = 1.0 / (rest - whole);
  }
  node.unsupported("the scale " + std::to_string(value) + " is no fraction of numbers of 31 bits");
}

std::int64_t ResizeAxis::below(std::int64_t o) const {
  return floor_div(factor * o + added, divisor);
}

std::int64_t ResizeAxis::element(std::int64_t o) const {
  return std::clamp<std::int64_t>(below(o), 0, extent - 1);
}

ResizeAxis ResizeAxis::nearest(const NodeView& node, std::string_view mode) const {
  ResizeAxis axis = *this;
  const bool shrinks = factor > divisor;
  if (mode == "ceil" || (mode == kNearestOfOpset10 && shrinks)) {
    axis.added += divisor - 1;
  } else if (mode == "round_prefer_floor" || mode == "round_prefer_ceil") {
    // p rounded is p + 1/2 rounded down; where that is whole, one less if the lower is preferred.
    axis.factor = 2 * factor;
    axis.added = 2 * added + divisor - (mode == "round_prefer_floor" ? 1 : 0);
    axis.divisor = 2 * divisor;
  } else if (mode != "floor" && mode != kNearestOfOpset10) {
    node.fail("nearest_mode is '" + std::string(mode) +
              "', expected round_prefer_floor, round_prefer_ceil, floor or ceil");
  }
  // What factor and divisor share can be taken out: the rest of `added` never reaches the next.
  const std::int64_t common = std::gcd(axis.factor, axis.divisor);
  axis.factor /= common;
  axis.divisor /= common;
  axis.added = floor_div(axis.added, common);
  return reduced(node, axis);
}

ResizeAxis resize_axis(const NodeView& node, std::string_view mode, std::int64_t extent,
                       std::int64_t output, const Fraction& scale) {
  ResizeAxis axis{extent, output};
  if (extent == output && scale.numerator == scale.denominator) return axis;
  const std::int64_t p = scale.numerator;
  const std::int64_t q = scale.denominator;
  if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && output > 1)) {
    axis.factor = 2 * q;
    axis.added = q - p;
    axis.divisor = 2 * p;
  } else if (mode == "half_pixel_symmetric") {
    // The middles of source and result lie on each other, also where an extent was rounded.
    axis.factor = 2 * q;
    axis.added = checked_mul(extent, p, "resize") - checked_mul(output, q, "resize") + q - p;
    axis.divisor = 2 * p;
  } else if (mode == "asymmetric") {
    axis.factor = q;
    axis.divisor = p;
  } else if (mode == "tf_half_pixel_for_nn") {
    axis.factor = 2 * q;
    axis.added = q;
    axis.divisor = 2 * p;
  } else if (mode == "align_corners" && output > 1) {
    axis.factor = extent - 1;
    axis.divisor = output - 1;
  } else if (mode == "align_corners" || mode == "pytorch_half_pixel") {
    axis.factor = 0;
  } else if (mode == kCropAndResize) {
    // The region says where; the axis has the extents alone.
  } else {
    node.fail("coordinate_transformation_mode '" + std::string(mode) + "' is unknown");
  }
  return reduced(node, axis);
}

}  // namespace morton::ops
