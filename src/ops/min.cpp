// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// The least of the inputs; NaN where one of them is.
Chain min_chain(const NodeView& node) { return extreme_of(node, ScalarOp::min); }

}  // namespace

const Operator& operator_Min() {
  static const Operator kOperator{
      .name = "Min",
      .most_inputs = kMostVariadic,
      .since_opset = 6,
      .chain = min_chain,
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
