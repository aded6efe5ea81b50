// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Sign() {
  static const Operator kOperator{
      .name = "Sign",
      .since_opset = 9,
      .chain = [](const NodeView&) { return single_step(ScalarOp::sign); },
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
