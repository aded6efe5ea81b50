// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

namespace morton {

const Operator& operator_Sign() {
  static const Operator kOperator{
      .name = "Sign",
      .since_opset = 9,
      .chain = [](const NodeView&) { return single_step(ScalarOp::sign); },
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton
