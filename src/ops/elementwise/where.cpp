// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

/// The second input where the first is true, else the third.
Chain where_chain(const NodeView& node) {
  Chain chain;
  chain.input_count = 3;
  if (node.input(1).dtype != node.input(2).dtype) {
    node.fail("chooses between " + std::string(name_of(node.input(1).dtype)) + " and " +
              std::string(name_of(node.input(2).dtype)) + "; they must be the same");
  }
  chain.append(ScalarOp::select, {ScalarRef::input(0), ScalarRef::input(1), ScalarRef::input(2)});
  return chain;
}

}  // namespace

const Operator& operator_Where() {
  static const Operator kOperator{
      .name = "Where",
      .least_inputs = 3,
      .most_inputs = 3,
      .since_opset = 9,
      .chain = where_chain,
      .types = all_types(),
      .inputs = Operator::Inputs::of_any_types,
  };
  return kOperator;
}

}  // namespace morton::ops
