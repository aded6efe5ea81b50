// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Log() {
  static const Operator kOperator{
      .name = "Log",
      .since_opset = 6,
      .chain = [](const NodeView&) { return single_step(ScalarOp::log); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
