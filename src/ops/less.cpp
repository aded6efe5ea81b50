// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Less() {
  static const Operator kOperator{
      .name = "Less",
      .least_inputs = 2,
      .most_inputs = 2,
      .since_opset = 7,
      .chain = [](const NodeView&) { return single_step(ScalarOp::less); },
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
