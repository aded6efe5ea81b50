// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Asinh() {
  static const Operator kOperator{
      .name = "Asinh",
      .since_opset = 9,
      .chain = [](const NodeView&) { return single_step(ScalarOp::asinh); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
