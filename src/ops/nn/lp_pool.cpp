// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/rooms.hpp"
#include "ops/math/pool.hpp"
#include "ops/math/summation.hpp"
#include "problems/pool2d.hpp"

namespace morton::ops {
namespace {

/// The norm's exponent: 1, a sum of magnitudes, or 2, Euclid's.
std::int64_t exponent_of(const NodeView& node) {
  const std::int64_t p = node.integer("p", 2);
  if (p < 1) node.fail("p is " + std::to_string(p) + ", expected 1 or more");
  if (p > 2) node.unsupported("p is " + std::to_string(p) + "; 1 and 2 are supported");
  return p;
}

std::vector<TensorType> infer_lp_pool(const NodeView& node) {
  static_cast<void>(exponent_of(node));
  return infer_pool(node);
}

/// sqrt is of 3 ulp, and the more even the sum the less its error moves the root.
Bounded root_of(const Bounded& sum) {
  const double root = std::sqrt(sum.value);
  const double least = std::sqrt(std::max(sum.value - sum.error, 0.0));
  const double most = std::sqrt(sum.value + sum.error);
  return {root, std::max(root - least, most - root) + 3.0 * 2.0 * kUnitRoundoff * most};
}

ReferenceTensor reference_lp_pool(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Window window = pool_window(node);
  const std::int64_t p = exponent_of(node);
  const ReferenceTensor& source = inputs[0];
  const ImageShape image = image_of(node, source.shape);
  const Shape& shape = image.shape;
  const auto visit = [&](std::int64_t plane, std::int64_t oh, std::int64_t ow) {
    BoundedSum sum;
    for (std::int64_t kh = 0; kh < window.kernel[0]; ++kh) {
      for (std::int64_t kw = 0; kw < window.kernel[1]; ++kw) {
        const std::int64_t h = window.at(0, oh, kh);
        const std::int64_t w = window.at(1, ow, kw);
        if (h < 0 || h >= shape[2] || w < 0 || w >= shape[3]) continue;
        const auto at = static_cast<std::size_t>(plane + h * shape[3] + w);
        const Bounded value{std::fabs(source.value[at]), source.error[at]};
        if (p == 1) {
          sum.add(value);
        } else {
          sum.add_product(value, value);
        }
      }
    }
    return p == 1 ? sum.result() : root_of(sum.result());
  };
  return reference_pool(image, window, visit);
}

BoundProblem lower_lp_pool(const NodeView& node) {
  BoundProblem bound = lower_pool(node, families::lp_pool2d);
  bound.problem.structure = numbers_of(LpPool2dStructure{pool_window(node), exponent_of(node)});
  return bound;
}

}  // namespace

const Operator& operator_LpPool() {
  static const Operator kOperator{
      .name = "LpPool",
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "ceil_mode", "p"},
      .infer = infer_lp_pool,
      .host = {.reference = reference_lp_pool},
      .lower = lower_lp_pool,
  };
  return kOperator;
}

}  // namespace morton::ops
