// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/roi.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace morton::ops
