// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

/// The second input where the first is true, else the third.
Chain where_chain(const NodeView& node) {
  Chain chain;
  chain.input_count = 3;
  if (node.input(0).dtype != DType::boolean) {
    node.fail("its condition is of type " + std::string(name_of(node.input(0).dtype)) +
              "; expected bool");
  }
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
      .inputs = {.least = 3, .most = 3, .types = Operator::Inputs::Types::any},
      .since_opset = 9,
      .chain = where_chain,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
