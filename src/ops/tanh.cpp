// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Tanh() {
  static const Operator kOperator{
      .name = "Tanh",
      .since_opset = 6,
      .chain = [](const NodeView&) { return single_step(ScalarOp::tanh); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
