// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/roi.hpp"

#include <algorithm>
#include <cmath>

#include "ops/math/summation.hpp"

namespace morton::ops {

TensorType infer_parts(const NodeView& node, std::int64_t numbers,
                       const SlidingWindow::Pair& pooled) {
  const Shape image = node.input(0).shape;
  const Shape parts = node.input(1).shape;
  if (image.size() != 4) node.fail("its input is " + to_string(image) + ", expected N x C x H x W");
  if (parts.size() != 2 || parts[1] != numbers) {
    node.fail("its regions are " + to_string(parts) + ", expected rows of " +
              std::to_string(numbers) + " numbers");
  }
  if (node.input(0).dtype != node.input(1).dtype) node.fail("image and regions differ in type");
  if (pooled[0] < 1 || pooled[1] < 1) {
    node.fail("it pools to " + std::to_string(pooled[0]) + " x " + std::to_string(pooled[1]) +
              ", expected 1 or more of each");
  }
  return {node.input(0).dtype, {parts[0], image[1], pooled[0], pooled[1]}};
}

BoundProblem parts_problem(const NodeView& node, Family family) {
  const Shape image = node.input(0).shape;
  const Shape parts = node.input(1).shape;
  const Shape result = node.output().shape;
  BoundProblem bound;
  bound.problem.family = family;
  bound.problem.types["acc"] = node.input(0).dtype == DType::f64 ? DType::f64 : DType::f32;
  bound.problem.extents = {{"N", image[0]}, {"C", image[1]}, {"H", image[2]},   {"W", image[3]},
                           {"R", parts[0]}, {"Q", parts[1]}, {"OH", result[2]}, {"OW", result[3]}};
  bound.operands["src"] = {node.input_id(0), View::identity({"N", "C", "H", "W"})};
  bound.operands["rois"] = {node.input_id(1), View::identity({"R", "Q"})};
  bound.operands["dst"] = {node.output_id(), View::identity({"R", "C", "OH", "OW"})};
  return bound;
}

PlaneOfParts::PlaneOfParts(const ReferenceTensor& source, const Shape& image, double number,
                           std::int64_t channel)
    : exists(number >= 0.0 && number < static_cast<double>(image[0])),
      height(image[2]),
      width(image[3]) {
  if (!exists) return;
  const auto count = static_cast<std::size_t>(height * width);
  const auto plane =
      static_cast<std::size_t>(static_cast<std::int64_t>(number) * image[1] + channel);
  values = std::span<const double>(source.value).subspan(plane * count, count);
  for (std::size_t e = plane * count; e < (plane + 1) * count; ++e) {
    largest = std::max(largest, std::fabs(source.value[e]));
    error = std::max(error, source.error[e]);
  }
}

namespace {

RoiMaxPoolStructure roi_pool_of(const NodeView& node) {
  return {static_cast<float>(node.real("spatial_scale", 1.0))};
}

/// Whether rounding may move a corner to another element.
bool is_open_corner(const Bounded& corner, double scale) {
  const double scaled = std::fabs(corner.value * scale);
  const double off = corner.error * std::fabs(scale) + 2.0 * kUnitRoundoff * scaled;
  return off > 0.0 && std::fabs(scaled - std::floor(scaled) - 0.5) <= off;
}

}  // namespace

TensorType infer_pooled_parts(const NodeView& node) {
  const auto pooled = node.integers("pooled_shape", {});
  if (pooled.size() != 2) {
    node.fail("pooled_shape has " + std::to_string(pooled.size()) + " numbers, expected 2");
  }
  return infer_parts(node, 5, {pooled[0], pooled[1]});
}

BoundProblem largest_of_bins(const NodeView& node, RoiMaxPoolStructure::Result result) {
  BoundProblem bound = parts_problem(node, families::roi_max_pool);
  RoiMaxPoolStructure pool = roi_pool_of(node);
  pool.result = result;
  bound.problem.structure = numbers_of(pool);
  if (result == RoiMaxPoolStructure::Result::place) bound.problem.types["acc"] = DType::i64;
  return bound;
}

void for_each_largest(const NodeView& node, std::span<const ReferenceTensor> inputs,
                      const std::function<void(const LargestOfBin&)>& visit) {
  const RoiMaxPoolStructure pool = roi_pool_of(node);
  const Shape image = node.input(0).shape;
  const Shape shape = infer_pooled_parts(node).shape;
  const std::int64_t bins = shape[2] * shape[3];
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    const auto corner = [&](std::size_t q) {
      const std::size_t at = static_cast<std::size_t>(r) * 5 + q;
      return Bounded{inputs[1].value[at], inputs[1].error[at]};
    };
    bool is_open = false;
    for (std::size_t q = 1; q < 5; ++q) {
      is_open = is_open || is_open_corner(corner(q), static_cast<double>(pool.scale));
    }
    for (std::int64_t e = 0; e < image[1] * bins; ++e) {
      const std::int64_t channel = e / bins;
      const PlaneOfParts plane(inputs[0], image, corner(0).value, channel);
      LargestOfBin bin{-1, 0.0, plane.error, plane.largest, is_open};
      if (plane.exists) {
        const std::int64_t first =
            (static_cast<std::int64_t>(corner(0).value) * image[1] + channel) * image[2];
        const auto rows =
            pool.bin(corner(2).value, corner(4).value, e % bins / shape[3], shape[2], image[2]);
        const auto columns =
            pool.bin(corner(1).value, corner(3).value, e % shape[3], shape[3], image[3]);
        for (std::int64_t h = rows.first; h < rows.end; ++h) {
          for (std::int64_t w = columns.first; w < columns.end; ++w) {
            const double value = plane.at(h, w);
            if (bin.element >= 0 && !pool.is_larger(value, bin.value)) continue;
            bin.value = plane.at(h, w);
            bin.element = (first + h) * image[3] + w;
          }
        }
      }
      visit(bin);
    }
  }
}

}  // namespace morton::ops
