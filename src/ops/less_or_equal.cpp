// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_LessOrEqual() {
  static const Operator kOperator{
      .name = "LessOrEqual",
      .least_inputs = 2,
      .most_inputs = 2,
      .since_opset = 12,
      .chain = [](const NodeView&) { return single_step(ScalarOp::less_equal); },
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
