// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Equal() {
  static const Operator kOperator{
      .name = "Equal",
      .least_inputs = 2,
      .most_inputs = 2,
      .since_opset = 7,
      .chain = [](const NodeView&) { return single_step(ScalarOp::equal); },
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
