// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/nn/roi.hpp"

namespace morton::ops {
namespace {

ReferenceTensor reference_max_roi_place(const NodeView& node,
                                        std::span<const ReferenceTensor> inputs) {
  ReferenceTensor result;
  result.shape = infer_pooled_parts(node).shape;
  const auto all = static_cast<double>(element_count(node.input(0).shape));
  for_each_largest(node, inputs, [&](const LargestOfBin& bin) {
    result.value.push_back(static_cast<double>(bin.element));
    result.error.push_back(bin.is_open || bin.error > 0.0 ? all : 0.0);
  });
  return result;
}

}  // namespace

/// Not of ONNX: for each result of a MaxRoiPool, the first of the largest elements of its bin, as
/// its number in the input; -1 of a bin without elements.
const Operator& operator_MaxRoiPlace() {
  static const Operator kOperator{
      .name = "MaxRoiPlace",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"pooled_shape", "spatial_scale"},
      .since_opset = 1,
      .infer =
          [](const NodeView& node) {
            return std::vector<TensorType>{{DType::i64, infer_pooled_parts(node).shape}};
          },
      .host = {.reference = reference_max_roi_place},
      .lower =
          [](const NodeView& node) {
            return largest_of_bins(node, RoiMaxPoolStructure::Result::place);
          },
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i64},
      .takes_epilogue = false,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
