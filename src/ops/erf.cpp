// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Erf() {
  static const Operator kOperator{
      .name = "Erf",
      .since_opset = 9,
      .chain = [](const NodeView&) { return single_step(ScalarOp::erf); },
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
