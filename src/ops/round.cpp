// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

namespace morton {

const Operator& operator_Round() {
  static const Operator kOperator{
      .name = "Round",
      .since_opset = 11,
      .chain = [](const NodeView&) { return single_step(ScalarOp::round); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton
