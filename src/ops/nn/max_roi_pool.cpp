// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/rooms.hpp"
#include "ops/math/summation.hpp"
#include "ops/nn/roi.hpp"
#include "problems/movement/roi.hpp"

namespace morton::ops {
namespace {

SlidingWindow::Pair roi_pooled_shape(const NodeView& node) {
  const auto pooled = node.integers("pooled_shape", {});
  if (pooled.size() != 2) {
    node.fail("pooled_shape has " + std::to_string(pooled.size()) + " numbers, expected 2");
  }
  return {pooled[0], pooled[1]};
}

RoiMaxPoolStructure roi_pool_of(const NodeView& node) {
  return {static_cast<float>(node.real("spatial_scale", 1.0))};
}

std::vector<TensorType> infer_max_roi_pool(const NodeView& node) {
  return {infer_parts(node, 5, roi_pooled_shape(node))};
}

/// Whether rounding may move a corner to another element.
bool is_open_corner(const Bounded& corner, double scale) {
  const double scaled = std::fabs(corner.value * scale);
  const double off = corner.error * std::fabs(scale) + 2.0 * kUnitRoundoff * scaled;
  return off > 0.0 && std::fabs(scaled - std::floor(scaled) - 0.5) <= off;
}

ReferenceTensor reference_max_roi_pool(const NodeView& node,
                                       std::span<const ReferenceTensor> inputs) {
  const RoiMaxPoolStructure pool = roi_pool_of(node);
  const Shape image = node.input(0).shape;
  ReferenceTensor result;
  result.shape = infer_max_roi_pool(node)[0].shape;
  const std::int64_t bins = result.shape[2] * result.shape[3];
  for (std::int64_t r = 0; r < result.shape[0]; ++r) {
    const auto corner = [&](std::size_t q) {
      const std::size_t at = static_cast<std::size_t>(r) * 5 + q;
      return Bounded{inputs[1].value[at], inputs[1].error[at]};
    };
    bool is_open = false;
    for (std::size_t q = 1; q < 5; ++q) {
      is_open = is_open || is_open_corner(corner(q), static_cast<double>(pool.scale));
    }
    for (std::int64_t e = 0; e < image[1] * bins; ++e) {
      const PlaneOfParts plane(inputs[0], image, corner(0).value, e / bins);
      double value = 0.0;
      bool is_first = true;
      if (plane.exists) {
        const auto rows = pool.bin(corner(2).value, corner(4).value, e % bins / result.shape[3],
                                   result.shape[2], image[2]);
        const auto columns = pool.bin(corner(1).value, corner(3).value, e % result.shape[3],
                                      result.shape[3], image[3]);
        for (std::int64_t h = rows.first; h < rows.end; ++h) {
          for (std::int64_t w = columns.first; w < columns.end; ++w) {
            value = is_first ? plane.at(h, w) : std::max(value, plane.at(h, w));
            is_first = false;
          }
        }
      }
      result.value.push_back(value);
      result.error.push_back(plane.error + (is_open ? 2.0 * plane.largest : 0.0));
    }
  }
  return result;
}

BoundProblem lower_max_roi_pool(const NodeView& node) {
  BoundProblem bound = parts_problem(node, families::roi_max_pool);
  bound.problem.structure = numbers_of(roi_pool_of(node));
  return bound;
}

}  // namespace

const Operator& operator_MaxRoiPool() {
  static const Operator kOperator{
      .name = "MaxRoiPool",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"pooled_shape", "spatial_scale"},
      .since_opset = 1,
      .infer = infer_max_roi_pool,
      .host = {.reference = reference_max_roi_pool},
      .lower = lower_max_roi_pool,
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64},
  };
  return kOperator;
}

}  // namespace morton::ops
