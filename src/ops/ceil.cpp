// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Ceil() {
  static const Operator kOperator{
      .name = "Ceil",
      .since_opset = 6,
      .chain = [](const NodeView&) { return single_step(ScalarOp::ceil); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
