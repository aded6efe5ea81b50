// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Cosh() {
  static const Operator kOperator{
      .name = "Cosh",
      .since_opset = 9,
      .chain = [](const NodeView&) { return single_step(ScalarOp::cosh); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
