// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

namespace morton {

const Operator& operator_Floor() {
  static const Operator kOperator{
      .name = "Floor",
      .since_opset = 6,
      .chain = [](const NodeView&) { return single_step(ScalarOp::floor); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton
