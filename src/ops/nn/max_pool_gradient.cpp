// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/rooms.hpp"
#include "ops/math/pool.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

std::vector<TensorType> infer_max_gradient(const NodeView& node) {
  const Shape expected = infer_pool(node)[0].shape;
  if (node.input(1).shape != expected) {
    node.fail("the gradient is " + to_string(node.input(1).shape) + ", expected " +
              to_string(expected));
  }
  return {node.input(0)};
}

/// Where the first of the largest elements under a window is, and whether rounding may make another
/// one the largest.
struct LargestPlace {
  std::int64_t index = -1;
  bool is_open = false;
};

LargestPlace place_of(const Window& window, const Shape& image, const ReferenceTensor& source,
                      std::int64_t plane, std::int64_t oh, std::int64_t ow) {
  LargestPlace place;
  double largest = 0.0;
  double error = 0.0;
  for (std::int64_t kh = 0; kh < window.kernel[0]; ++kh) {
    for (std::int64_t kw = 0; kw < window.kernel[1]; ++kw) {
      const std::int64_t h = window.at(0, oh, kh);
      const std::int64_t w = window.at(1, ow, kw);
      if (h < 0 || h >= image[2] || w < 0 || w >= image[3]) continue;
      const std::int64_t index = plane + h * image[3] + w;
      const double value = source.value[static_cast<std::size_t>(index)];
      error = std::max(error, source.error[static_cast<std::size_t>(index)]);
      if (place.index < 0 || value > largest || (std::isnan(value) && !std::isnan(largest))) {
        place.index = index;
        largest = value;
      }
    }
  }
  place.is_open = error > 0.0;
  return place;
}

/// Of elements that are not exact any one under the window may get its gradient.
ReferenceTensor reference_max_gradient(const NodeView& node,
                                       std::span<const ReferenceTensor> inputs) {
  const Window window = pool_window(node);
  const ImageShape image = image_of(node, inputs[0].shape);
  const Shape& shape = image.shape;
  std::vector<BoundedSum> sums(inputs[0].value.size());
  std::size_t from = 0;
  for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) {
    for (std::int64_t oh = 0; oh < window.output[0]; ++oh) {
      for (std::int64_t ow = 0; ow < window.output[1]; ++ow) {
        const LargestPlace place =
            place_of(window, shape, inputs[0], plane * shape[2] * shape[3], oh, ow);
        const double output_gradient = inputs[1].value[from];
        sums[static_cast<std::size_t>(place.index)].add(
            {output_gradient,
             inputs[1].error[from] + (place.is_open ? std::fabs(output_gradient) : 0.0)});
        ++from;
      }
    }
  }
  ReferenceTensor result;
  result.shape = inputs[0].shape;
  for (const BoundedSum& sum : sums) {
    result.value.push_back(sum.result().value);
    result.error.push_back(sum.result().error);
  }
  return result;
}

BoundProblem lower_max_gradient(const NodeView& node) {
  BoundProblem bound = lower_pool(node, families::max_pool2d_gradient);
  const ImageShape image = image_of(node, node.input(0).shape);
  bound.operands["above"] = {node.input_id(1), image.view({"N", "C", "OH", "OW"})};
  bound.operands["dst"] = {node.output_id(), image.view({"N", "C", "H", "W"})};
  return bound;
}

}  // namespace

/// Not of ONNX: the gradient of MaxPool. Inputs: its input, and the gradient of its output.
const Operator& operator_MaxPoolGradient() {
  static const Operator kOperator{
      .name = "MaxPoolGradient",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "ceil_mode"},
      .since_opset = 1,
      .infer = infer_max_gradient,
      .host = {.reference = reference_max_gradient},
      .lower = lower_max_gradient,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
