// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

namespace morton {

const Operator& operator_Cos() {
  static const Operator kOperator{
      .name = "Cos",
      .since_opset = 7,
      .chain = [](const NodeView&) { return single_step(ScalarOp::cos); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton
