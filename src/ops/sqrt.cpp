// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

namespace morton {

const Operator& operator_Sqrt() {
  static const Operator kOperator{
      .name = "Sqrt",
      .since_opset = 6,
      .chain = [](const NodeView&) { return single_step(ScalarOp::sqrt); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton
