// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"
#include "ops/signals/volume.hpp"

namespace morton::ops {
namespace {

DepthWindow slices_of(const NodeView& node) {
  DepthWindow window;
  window.kernel = node.integer("kernel", 1);
  window.stride = node.integer("stride", 1);
  window.dilation = node.integer("dilation", 1);
  window.before = node.integer("before", 0);
  window.output = node.integer("output", 1);
  if (window.kernel < 1 || window.stride < 1 || window.dilation < 1 || window.output < 1) {
    node.fail("kernel, stride, dilation and output are expected to be 1 or more");
  }
  return window;
}

/// N x C x D x (others) becomes (N * output) x (C * kernel) x (others).
std::vector<TensorType> infer_depth_slices(const NodeView& node) {
  const DepthWindow window = slices_of(node);
  TensorType type = node.input(0);
  if (type.shape.size() < 3) {
    node.fail("the input is " + to_string(type.shape) + ", expected N x C x D and more");
  }
  type.shape[0] = checked_mul(type.shape[0], window.output, "DepthSlices");
  type.shape[1] = checked_mul(type.shape[1], window.kernel, "DepthSlices");
  type.shape.erase(type.shape.begin() + 2);
  return {type};
}

std::vector<std::vector<Origin>> origins_of_depth_slices(const NodeView& node) {
  const DepthWindow window = slices_of(node);
  const Shape source = node.input(0).shape;
  return {origins_of(infer_depth_slices(node)[0].shape, [&](const Shape& at) {
    Shape from = at;
    from[0] = at[0] / window.output;
    from[1] = at[1] / window.kernel;
    const std::int64_t depth = at[0] % window.output * window.stride +
                               at[1] % window.kernel * window.dilation - window.before;
    from.insert(from.begin() + 2, depth);
    const bool inside = depth >= 0 && depth < source[2];
    return inside ? Origin{0, index_in(source, from)} : Origin{};
  })};
}

BoundProblem lower_depth_slices(const NodeView& node) {
  const DepthWindow window = slices_of(node);
  Movement movement(node, 0, 0);
  const Expression images = movement.size("IMAGES", window.output);
  const Expression kernel(window.kernel);
  std::vector<Expression> coordinates{Movement::at(0) / images, Movement::at(1) / kernel,
                                      Movement::at(0) % images * Expression(window.stride) +
                                          Movement::at(1) % kernel * Expression(window.dilation) -
                                          Expression(window.before)};
  for (std::size_t d = 2; d + 1 < node.input(0).shape.size(); ++d) {
    coordinates.push_back(Movement::at(d));
  }
  return movement.read_bounded(std::move(coordinates), 0.0);
}

void gradient_of_depth_slices(Gradient& gradient) {
  const Shape source = gradient.node().input(0).shape;
  gradient.give(0, fold_slices(gradient, gradient.of_output(), slices_of(gradient.node()),
                               source[0], source[2]));
}

}  // namespace

/// What lies under each window along the depth of a volume, as images of more channels, so that a
/// convolution of images is one of volumes.
const Operator& operator_DepthSlices() {
  static const Operator kOperator{
      .name = "DepthSlices",
      .attributes = {"kernel", "stride", "dilation", "before", "output"},
      .infer = infer_depth_slices,
      .host = {.origins = origins_of_depth_slices},
      .lower = lower_depth_slices,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_depth_slices,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
