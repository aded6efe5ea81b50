// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/rooms.hpp"
#include "ops/math/pool.hpp"
#include "ops/math/summation.hpp"
#include "ops/signals/volume_pool.hpp"
#include "problems/pool2d.hpp"

namespace morton::ops {
namespace {

/// The norm's exponent: 1, a sum of magnitudes, or 2, Euclid's.
std::int64_t exponent_of(const NodeView& node) {
  const std::int64_t p = node.integer("p", 2);
  if (p < 1) node.fail("p is " + std::to_string(p) + ", expected 1 or more");
  return p;
}

bool is_composed(const NodeView& node) { return exponent_of(node) > 2 || is_volume(node); }

std::vector<TensorType> infer_lp_pool(const NodeView& node) {
  if (is_composed(node)) return infer_composed(node);
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
  if (is_composed(node)) return reference_composed(node, inputs).front();
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

/// Each element's share of its window's norm: its sign, or its part of a norm that is not 0.
void gradient_of_lp_pool(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Window window = pool_window(node);
  const Shape shape = image_of(node, node.input(0).shape).shape;
  const Shape result{shape[0], shape[1], window.output[0], window.output[1]};
  TensorId share = gradient.reshaped(gradient.of_output(), result);
  const bool euclidean = exponent_of(node) == 2;
  if (euclidean) {
    Chain divide;
    divide.input_count = 2;
    const ScalarRef norm = ScalarRef::input(1);
    const ScalarRef none = divide.append(ScalarOp::equal, {norm, ScalarRef::constant(0.0)});
    const ScalarRef part = divide.append(ScalarOp::div, {ScalarRef::input(0), norm});
    divide.append(ScalarOp::select, {none, ScalarRef::constant(0.0), part});
    share = gradient.chain(divide, {share, gradient.reshaped(node.output_id(), result)});
  }
  const TensorId spread = spread_over_windows(gradient, share, window, shape);
  TensorId factor = gradient.reshaped(node.input_id(0), shape);
  if (!euclidean) factor = gradient.apply(ScalarOp::sign, {factor});
  const TensorId product = gradient.apply(ScalarOp::mul, {factor, spread});
  gradient.give(0, gradient.reshaped(product, node.input(0).shape));
}

/// The root of the sum of powers, where no kernel has the exponent.
std::vector<TensorId> expand_lp_pool(Expansion& expansion) {
  const std::int64_t p = exponent_of(expansion.node());
  if (p <= 2) return expand_pool(expansion);
  const auto power = [&](TensorId value, double exponent) {
    return expansion.add("Pow", {value, expansion.scalar(expansion.type_of(value), exponent)});
  };
  const TensorId magnitudes = expansion.add("Abs", {expansion.input(0)});
  GraphWriter::Attributes attributes = expansion.node().node().attributes;
  attributes["p"] = std::int64_t{1};
  const TensorId sum =
      expansion.add("LpPool", {power(magnitudes, static_cast<double>(p))}, attributes);
  return {power(sum, 1.0 / static_cast<double>(p))};
}

}  // namespace

const Operator& operator_LpPool() {
  static const Operator kOperator{
      .name = "LpPool",
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "ceil_mode", "p"},
      .infer = infer_lp_pool,
      .host = {.reference = reference_lp_pool},
      .lower = lower_lp_pool,
      .expand = expand_lp_pool,
      .gradient = gradient_of_lp_pool,
  };
  return kOperator;
}

}  // namespace morton::ops
