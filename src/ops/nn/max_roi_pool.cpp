// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/nn/roi.hpp"
#include "ops/nn/roi_gradient.hpp"

namespace morton::ops {
namespace {

ReferenceTensor reference_max_roi_pool(const NodeView& node,
                                       std::span<const ReferenceTensor> inputs) {
  ReferenceTensor result;
  result.shape = infer_pooled_parts(node).shape;
  for_each_largest(node, inputs, [&](const LargestOfBin& bin) {
    result.value.push_back(bin.value);
    result.error.push_back(bin.error + (bin.is_open ? 2.0 * bin.largest : 0.0));
  });
  return result;
}

}  // namespace

const Operator& operator_MaxRoiPool() {
  static const Operator kOperator{
      .name = "MaxRoiPool",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"pooled_shape", "spatial_scale"},
      .since_opset = 1,
      .infer =
          [](const NodeView& node) { return std::vector<TensorType>{infer_pooled_parts(node)}; },
      .host = {.reference = reference_max_roi_pool},
      .lower =
          [](const NodeView& node) {
            return largest_of_bins(node, RoiMaxPoolStructure::Result::value);
          },
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64},
      .gradient = gradient_of_max_roi_pool,
  };
  return kOperator;
}

}  // namespace morton::ops
