// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// x where it is not below 0, else slope * x.
Chain p_relu_chain(const NodeView& /*node*/) {
  Chain chain;
  chain.input_count = 2;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef below = chain.append(ScalarOp::less, {x, ScalarRef::constant(0.0)});
  const ScalarRef leak = chain.append(ScalarOp::mul, {x, ScalarRef::input(1)});
  chain.append(ScalarOp::select, {below, leak, x});
  return chain;
}

}  // namespace

const Operator& operator_PRelu() {
  static const Operator kOperator{
      .name = "PRelu",
      .least_inputs = 2,
      .most_inputs = 2,
      .since_opset = 7,
      .chain = p_relu_chain,
      .types = number_types(),
      .parameters = {1},
  };
  return kOperator;
}

}  // namespace morton::ops
