// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Tan() {
  static const Operator kOperator{
      .name = "Tan",
      .since_opset = 7,
      .chain = [](const NodeView&) { return single_step(ScalarOp::tan); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
