// SPDX-License-Identifier: Apache-2.0
//
// Two truth values, and the bits of two integers.
#include "base/rooms.hpp"
#include "ops/elementwise/table.hpp"

namespace morton::ops {
namespace {

/// Bits that leave the type are lost. A distance below 0, or of the type's width or more, leaves
/// what comes in: zeros, or to the right the sign.
Chain bit_shift_chain(const NodeView& node) {
  const std::string direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    node.fail("direction is '" + direction + "', expected LEFT or RIGHT");
  }
  return single_step(direction == "LEFT" ? ScalarOp::shift_left : ScalarOp::shift_right);
}

std::vector<ElementwiseRow> logic_rows() {
  return {
      {"And", 7, boolean_type, step<ScalarOp::logical_and>},
      {"BitShift", 11, integer_types, bit_shift_chain, {.attributes = {"direction"}}},
      {"BitwiseAnd", 18, integer_types, step<ScalarOp::bit_and>},
      {"BitwiseOr", 18, integer_types, step<ScalarOp::bit_or>},
      {"BitwiseXor", 18, integer_types, step<ScalarOp::bit_xor>},
      {"Or", 7, boolean_type, step<ScalarOp::logical_or>},
      {"Xor", 7, boolean_type, step<ScalarOp::logical_xor>},
  };
}

}  // namespace

const OperatorTable& logic_operators() {
  static const OperatorTable kTable = elementwise_table(kTwoInputs, logic_rows());
  return kTable;
}

}  // namespace morton::ops
