// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// Bits that leave the type are lost; a distance of its width or more leaves 0.
Chain bit_shift_chain(const NodeView& node) {
  const std::string direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    node.fail("direction is '" + direction + "', expected LEFT or RIGHT");
  }
  return single_step(direction == "LEFT" ? ScalarOp::shift_left : ScalarOp::shift_right);
}

}  // namespace

const Operator& operator_BitShift() {
  static const Operator kOperator{
      .name = "BitShift",
      .least_inputs = 2,
      .most_inputs = 2,
      .attributes = {"direction"},
      .since_opset = 11,
      .chain = bit_shift_chain,
      .types = {DType::u8, DType::u16, DType::u32, DType::u64},
  };
  return kOperator;
}

}  // namespace morton::ops
