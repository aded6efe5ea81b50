// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Abs() {
  static const Operator kOperator{
      .name = "Abs",
      .since_opset = 6,
      .chain = [](const NodeView&) { return single_step(ScalarOp::abs); },
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
