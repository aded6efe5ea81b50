// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Neg() {
  static const Operator kOperator{
      .name = "Neg",
      .since_opset = 6,
      .chain = [](const NodeView&) { return single_step(ScalarOp::neg); },
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
