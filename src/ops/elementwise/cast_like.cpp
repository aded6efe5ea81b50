// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

/// Cast to the type of the second input, of which nothing else counts.
Chain cast_like_chain(const NodeView& node) {
  Chain chain;
  chain.input_count = 2;
  const DType target = node.input(1).dtype;
  if (node.input(0).dtype == target) return chain;
  chain.append_conversion(ScalarOp::cast, ScalarRef::input(0), target);
  return chain;
}

std::vector<TensorType> infer_cast_like(const NodeView& node) {
  return {{node.input(1).dtype, node.input(0).shape}};
}

}  // namespace

const Operator& operator_CastLike() {
  static const Operator kOperator{
      .name = "CastLike",
      .inputs = {.least = 2, .most = 2, .types = Operator::Inputs::Types::any},
      .since_opset = 15,
      .infer = infer_cast_like,
      .chain = cast_like_chain,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
