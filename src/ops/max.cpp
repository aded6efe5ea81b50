// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// The largest of the inputs; NaN where one of them is.
Chain max_chain(const NodeView& node) { return extreme_of(node, ScalarOp::max); }

}  // namespace

const Operator& operator_Max() {
  static const Operator kOperator{
      .name = "Max",
      .most_inputs = kMostVariadic,
      .since_opset = 6,
      .chain = max_chain,
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
