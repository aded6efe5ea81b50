// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Round() {
  static const Operator kOperator{
      .name = "Round",
      .since_opset = 11,
      .chain = [](const NodeView&) { return single_step(ScalarOp::round); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
