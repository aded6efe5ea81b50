// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_BitwiseXor() {
  static const Operator kOperator{
      .name = "BitwiseXor",
      .least_inputs = 2,
      .most_inputs = 2,
      .since_opset = 18,
      .chain = [](const NodeView&) { return single_step(ScalarOp::bit_xor); },
      .types = {DType::u8, DType::u16, DType::u32, DType::u64},
  };
  return kOperator;
}

}  // namespace morton::ops
