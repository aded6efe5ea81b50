// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/pool.hpp"
#include "ops/math/summation.hpp"
#include "ops/signals/volume_pool.hpp"
#include "problems/pool2d.hpp"

namespace morton::ops {
namespace {

/// How many positions of window `o` count: those inside the image, or with `count_include_pad`
/// those inside the padded image (problems/pool2d.hpp).
std::int64_t counted(const Window& window, std::size_t direction, std::int64_t extent,
                     std::int64_t o, bool count_pad) {
  const std::int64_t first = count_pad ? -window.before[direction] : 0;
  const std::int64_t end = count_pad ? extent + window.after[direction] : extent;
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < window.kernel[direction]; ++k) {
    const std::int64_t at = window.at(direction, o, k);
    if (at >= first && at < end) ++count;
  }
  return count;
}

/// The mean under each window: a sum, then a division of 2.5 ulp or a product with the reciprocal,
/// which is no worse.
ReferenceTensor reference_average(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  if (is_volume(node)) return reference_composed(node, inputs).front();
  const Window window = pool_window(node);
  const bool count_pad = node.flag("count_include_pad", 0);
  const ReferenceTensor& source = inputs[0];
  const ImageShape whole = image_of(node, source.shape);
  const Shape& image = whole.shape;
  const Chain divide = [] {
    Chain chain;
    chain.input_count = 2;
    chain.append(ScalarOp::div, {ScalarRef::input(0), ScalarRef::input(1)});
    return chain;
  }();
  const auto visit = [&](std::int64_t plane, std::int64_t oh, std::int64_t ow) {
    BoundedSum sum;
    for (std::int64_t kh = 0; kh < window.kernel[0]; ++kh) {
      for (std::int64_t kw = 0; kw < window.kernel[1]; ++kw) {
        const std::int64_t h = window.at(0, oh, kh);
        const std::int64_t w = window.at(1, ow, kw);
        if (h < 0 || h >= image[2] || w < 0 || w >= image[3]) continue;
        const auto at = static_cast<std::size_t>(plane + h * image[3] + w);
        sum.add({source.value[at], source.error[at]});
      }
    }
    const std::int64_t count =
        counted(window, 0, image[2], oh, count_pad) * counted(window, 1, image[3], ow, count_pad);
    const Bounded operands[] = {sum.result(), {static_cast<double>(count), 0.0}};
    return divide.evaluate(operands);
  };
  return reference_pool(whole, window, visit);
}

BoundProblem lower_average(const NodeView& node) {
  BoundProblem bound = lower_pool(node, families::average_pool2d);
  const Window window = pool_window(node);
  const bool padded = node.flag("count_include_pad", 0);
  bound.problem.structure = numbers_of(
      AveragePool2dStructure{window, window.after, padded ? PoolCount::padded : PoolCount::inside});
  return bound;
}

/// Each element of the gradient, divided by how many elements its mean is of, is spread over its
/// window: a transposed convolution with filters of ones, or, where windows lie side by side,
/// plain repetition.
void gradient_of_average(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Window window = pool_window(node);
  const ImageShape image = image_of(node, node.input(0).shape);
  const Shape& shape = image.shape;
  const bool count_pad = node.flag("count_include_pad", 0);
  const Shape output_gradient_shape{shape[0], shape[1], window.output[0], window.output[1]};
  Tensor shares = Tensor::allocate(node.input(0).dtype,
                                   {1, 1, output_gradient_shape[2], output_gradient_shape[3]});
  for (std::int64_t oh = 0; oh < output_gradient_shape[2]; ++oh) {
    for (std::int64_t ow = 0; ow < output_gradient_shape[3]; ++ow) {
      const std::int64_t count =
          counted(window, 0, shape[2], oh, count_pad) * counted(window, 1, shape[3], ow, count_pad);
      shares.set(oh * output_gradient_shape[3] + ow, 1.0 / static_cast<double>(count));
    }
  }
  const TensorId output_gradient = gradient.reshaped(gradient.of_output(), output_gradient_shape);
  const TensorId share =
      gradient.apply(ScalarOp::mul, {output_gradient, gradient.constant(shares)});
  gradient.give(0, gradient.reshaped(spread_over_windows(gradient, share, window, shape),
                                     node.input(0).shape));
}

}  // namespace

const Operator& operator_AveragePool() {
  static const Operator kOperator{
      .name = "AveragePool",
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "ceil_mode",
                     "count_include_pad"},
      .infer = infer_pool,
      .host = {.reference = reference_average},
      .lower = lower_average,
      .expand = expand_pool,
      .gradient = gradient_of_average,
  };
  return kOperator;
}

}  // namespace morton::ops
