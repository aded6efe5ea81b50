// SPDX-License-Identifier: Apache-2.0
#include "ops/operator.hpp"

namespace morton {
namespace {

/// Inputs: data, and from opset 12 on ratio and training_mode. Without training mode it is the
/// identity, whatever the ratio.
std::vector<TensorType> infer_dropout(const NodeView& node) {
  if (node.has_input(2)) {
    const Tensor* training = node.constant(2);
    if (training == nullptr || training->size() != 1 || training->at(0) != 0.0) {
      node.unsupported("training_mode must be the constant false");
    }
  }
  return {node.input(0)};
}

}  // namespace

const Operator& operator_Dropout() {
  static const Operator kOperator{
      .name = "Dropout",
      .most_inputs = 3,
      .attributes = {"ratio", "seed"},
      .infer = infer_dropout,
      .alias = true,
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton
