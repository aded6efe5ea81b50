// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Sinh() {
  static const Operator kOperator{
      .name = "Sinh",
      .since_opset = 9,
      .chain = [](const NodeView&) { return single_step(ScalarOp::sinh); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
