// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// The second input <= the first.
Chain greater_or_equal_chain(const NodeView& /*node*/) {
  Chain chain;
  chain.input_count = 2;
  chain.append(ScalarOp::less_equal, {ScalarRef::input(1), ScalarRef::input(0)});
  return chain;
}

}  // namespace

const Operator& operator_GreaterOrEqual() {
  static const Operator kOperator{
      .name = "GreaterOrEqual",
      .least_inputs = 2,
      .most_inputs = 2,
      .since_opset = 12,
      .chain = greater_or_equal_chain,
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
