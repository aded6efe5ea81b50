// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {
namespace {

/// Inputs: data, and from opset 12 on ratio and training_mode. Without training mode it is the
/// identity, whatever the ratio; the mask, of the data's type before opset 10, keeps everything.
std::vector<TensorType> infer_dropout(const NodeView& node) {
  if (node.has_input(2)) {
    const Tensor& training = node.value(2);
    if (training.size() != 1 || training.at(0) != 0.0) {
      node.unsupported("training_mode must be false");
    }
  }
  const TensorType data = node.input(0);
  return {data, {node.opset() < 10 ? data.dtype : DType::boolean, data.shape}};
}

/// The mask.
std::vector<Tensor> values_of_dropout(const NodeView& node) {
  const TensorType type = infer_dropout(node)[1];
  Tensor mask = Tensor::allocate(type.dtype, type.shape);
  for (std::int64_t i = 0; i < mask.size(); ++i) mask.set(i, 1.0);
  return {mask};
}

}  // namespace

const Operator& operator_Dropout() {
  static const Operator kOperator{
      .name = "Dropout",
      .inputs = {.most = 3, .planned = {2}},
      .attributes = {"ratio", "seed"},
      .infer = infer_dropout,
      .host = {.values = values_of_dropout, .alias = true},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
