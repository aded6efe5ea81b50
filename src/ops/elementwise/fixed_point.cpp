// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of fixed-point numbers in i32, which ONNX lacks: the stages that gemmlowp puts behind
// an 8-bit product (docs/low_precision.md). Files name these operators in the domain "morton".
#include "base/rooms.hpp"
#include "ops/elementwise/table.hpp"

namespace morton::ops {
namespace {

std::vector<DType> word_type() { return {DType::i32}; }

OperatorTable fixed_point_table() {
  OperatorTable table = elementwise_table(
      kTwoInputs, {
                      {"DoublingHighMul", 1, word_type, step<ScalarOp::doubling_high_mul>},
                      {"RoundingShift", 1, word_type, step<ScalarOp::rounding_shift>},
                  });
  for (Operator& op : table) op.home = Operator::Home::morton;
  return table;
}

}  // namespace

const OperatorTable& fixed_point_operators() {
  static const OperatorTable kTable = fixed_point_table();
  return kTable;
}

}  // namespace morton::ops
