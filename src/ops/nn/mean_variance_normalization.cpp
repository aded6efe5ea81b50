// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/rooms.hpp"
#include "ops/math/normalization.hpp"
#include "ops/math/normalization_gradient.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

/// ONNX adds this to the deviation. Devices add its square to the variance instead.
constexpr double kEpsilon = 1e-9;

Along mean_variance_rows(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  return along(rank, checked_axes(node, node.integers("axes", {0, 2, 3}), rank));
}

/// (x - mean) / (deviation + epsilon). sqrt(variance + epsilon^2), which is what both compute, lies
/// between the deviation and the deviation with epsilon, so that the two quotients differ by a
/// share of epsilon / deviation at most; where a row's elements are equal, both are 0.
ReferenceTensor reference_mean_variance(const NodeView& node,
                                        std::span<const ReferenceTensor> inputs) {
  const Along rows = mean_variance_rows(node);
  ReferenceTensor result =
      reference_normalize(rows, inputs[0], Norm::deviation, kEpsilon * kEpsilon);
  const RowMoments moments = row_moments(rows, inputs[0], kEpsilon * kEpsilon);
  std::size_t number = 0;
  for_each_row(rows, inputs[0].shape, [&](const std::vector<std::size_t>& row) {
    const double share = kEpsilon * moments.inverse_deviation[number++].value;
    for (const std::size_t at : row) result.error[at] += std::fabs(result.value[at]) * share;
  });
  return result;
}

void gradient_of_mean_variance(Gradient& gradient) {
  gradient_of_deviations(gradient, mean_variance_rows(gradient.node()), kEpsilon * kEpsilon, {});
}

}  // namespace

const Operator& operator_MeanVarianceNormalization() {
  static const Operator kOperator{
      .name = "MeanVarianceNormalization",
      .attributes = {"axes"},
      .since_opset = 9,
      .infer =
          [](const NodeView& node) {
            (void)mean_variance_rows(node);
            return std::vector<TensorType>{node.input(0)};
          },
      .host = {.reference = reference_mean_variance},
      .lower =
          [](const NodeView& node) {
            return lower_normalize(node, mean_variance_rows(node), Norm::deviation,
                                   kEpsilon * kEpsilon);
          },
      .gradient = gradient_of_mean_variance,
  };
  return kOperator;
}

}  // namespace morton::ops
