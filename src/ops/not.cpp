// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Not() {
  static const Operator kOperator{
      .name = "Not",
      .since_opset = 1,
      .chain = [](const NodeView&) { return single_step(ScalarOp::logical_not); },
      .types = {DType::boolean},
  };
  return kOperator;
}

}  // namespace morton::ops
