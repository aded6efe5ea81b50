// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/elementwise/casting.hpp"

namespace morton::ops {
namespace {

/// Cast to the type of the second input, of which nothing else counts.
Chain cast_like_chain(const NodeView& node) { return casting_chain(node, node.input(1).dtype); }

std::vector<TensorType> infer_cast_like(const NodeView& node) {
  (void)conversion_of(node, node.input(1).dtype);
  return {{node.input(1).dtype, node.input(0).shape}};
}

}  // namespace

const Operator& operator_CastLike() {
  static const Operator kOperator{
      .name = "CastLike",
      .inputs = {.least = 2, .most = 2, .types = Operator::Inputs::Types::any, .types_alone = {1}},
      .attributes = {"saturate", "round_mode"},
      .since_opset = 15,
      .infer = infer_cast_like,
      .chain = cast_like_chain,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
