// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

namespace morton {

const Operator& operator_Sin() {
  static const Operator kOperator{
      .name = "Sin",
      .since_opset = 7,
      .chain = [](const NodeView&) { return single_step(ScalarOp::sin); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton
