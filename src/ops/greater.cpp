// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// The second input < the first.
Chain greater_chain(const NodeView& /*node*/) {
  Chain chain;
  chain.input_count = 2;
  chain.append(ScalarOp::less, {ScalarRef::input(1), ScalarRef::input(0)});
  return chain;
}

}  // namespace

const Operator& operator_Greater() {
  static const Operator kOperator{
      .name = "Greater",
      .least_inputs = 2,
      .most_inputs = 2,
      .since_opset = 7,
      .chain = greater_chain,
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
