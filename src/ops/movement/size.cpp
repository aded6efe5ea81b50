// SPDX-License-Identifier: Apache-2.0
#include <span>

#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {
namespace {

std::vector<TensorType> infer_size(const NodeView& /*node*/) { return {{DType::i64, {}}}; }

std::vector<Tensor> values_of_size(const NodeView& node) {
  const std::int64_t count = element_count(node.input(0).shape);
  return {Tensor::from({}, std::span(&count, 1))};
}

}  // namespace

const Operator& operator_Size() {
  static const Operator kOperator{
      .name = "Size",
      .inputs = {.shapes_only = true},
      .since_opset = 1,
      .infer = infer_size,
      .host = {.values = values_of_size},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
