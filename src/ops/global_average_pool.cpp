// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"
#include "ops/summation.hpp"
#include "ops/window.hpp"

namespace morton {
namespace {

/// [N, C, H, W] becomes [N, C, 1, 1].
std::vector<TensorType> infer_global_average(const NodeView& node) {
  const TensorType image = node.input(0);
  require_image(node, image.shape);
  return {{image.dtype, {image.shape[0], image.shape[1], 1, 1}}};
}

/// The mean of each plane: a sum, then a division.
ReferenceTensor reference_global_average(const NodeView& /*node*/,
                                         std::span<const ReferenceTensor> inputs) {
  const ReferenceTensor& image = inputs[0];
  const auto plane = static_cast<std::size_t>(image.shape[2] * image.shape[3]);
  const Bounded count{static_cast<double>(plane), 0.0};
  const Chain divide = single_step(ScalarOp::div);
  ReferenceTensor means;
  means.shape = {image.shape[0], image.shape[1], 1, 1};
  for (std::size_t first = 0; first < image.value.size(); first += plane) {
    BoundedSum sum;
    for (std::size_t at = first; at < first + plane; ++at) {
      sum.add({image.value[at], image.error[at]});
    }
    const Bounded operands[] = {sum.result(), count};
    const Bounded mean = divide.evaluate(operands);
    means.value.push_back(mean.value);
    means.error.push_back(mean.error);
  }
  return means;
}

/// An average_pool2d whose one window is the whole image.
BoundProblem lower_global_average(const NodeView& node) {
  const Shape image = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = "average_pool2d";
  bound.problem.extents = {{"N", image[0]}, {"C", image[1]}, {"H", image[2]},
                           {"W", image[3]}, {"OH", 1},       {"OW", 1}};
  bound.problem.structure = {{"KH", image[2]}, {"KW", image[3]}, {"SH", 1},       {"SW", 1},
                             {"DH", 1},        {"DW", 1},        {"PT", 0},       {"PL", 0},
                             {"PB", 0},        {"PR", 0},        {"COUNT_PAD", 0}};
  bound.operands["src"] = {node.input_id(0), View::identity({"N", "C", "H", "W"})};
  bound.operands["dst"] = {node.output_id(), View::identity({"N", "C", "OH", "OW"})};
  return bound;
}

}  // namespace

const Operator& operator_GlobalAveragePool() {
  static const Operator kOperator{
      .name = "GlobalAveragePool",
      .since_opset = 1,
      .infer = infer_global_average,
      .reference = reference_global_average,
      .lower = lower_global_average,
  };
  return kOperator;
}

}  // namespace morton
