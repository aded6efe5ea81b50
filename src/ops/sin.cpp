// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Sin() {
  static const Operator kOperator{
      .name = "Sin",
      .since_opset = 7,
      .chain = [](const NodeView&) { return single_step(ScalarOp::sin); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
