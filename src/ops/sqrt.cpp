// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Sqrt() {
  static const Operator kOperator{
      .name = "Sqrt",
      .since_opset = 6,
      .chain = [](const NodeView&) { return single_step(ScalarOp::sqrt); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
