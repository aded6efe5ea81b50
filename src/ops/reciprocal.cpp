// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// 1 / x.
Chain reciprocal_chain(const NodeView& /*node*/) {
  Chain chain;
  chain.append(ScalarOp::div, {ScalarRef::constant(1.0), ScalarRef::input(0)});
  return chain;
}

}  // namespace

const Operator& operator_Reciprocal() {
  static const Operator kOperator{
      .name = "Reciprocal",
      .since_opset = 6,
      .chain = reciprocal_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
