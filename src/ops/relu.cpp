// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// max(x, 0); a NaN stays a NaN.
Chain relu_chain(const NodeView& /*node*/) {
  Chain chain;
  chain.append(ScalarOp::max, {ScalarRef::input(0), ScalarRef::constant(0.0)});
  return chain;
}

}  // namespace

const Operator& operator_Relu() {
  static const Operator kOperator{
      .name = "Relu", .since_opset = 6, .chain = relu_chain, .types = number_types()};
  return kOperator;
}

}  // namespace morton::ops
