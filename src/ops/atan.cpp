// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Atan() {
  static const Operator kOperator{
      .name = "Atan",
      .since_opset = 7,
      .chain = [](const NodeView&) { return single_step(ScalarOp::atan); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
