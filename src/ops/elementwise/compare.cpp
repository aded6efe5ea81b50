// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of two inputs: the result is a truth value.
#include "base/rooms.hpp"
#include "ops/elementwise/table.hpp"

namespace morton::ops {
namespace {

std::vector<ElementwiseRow> compare_rows() {
  return {
      {"Equal", 7, plain_types, step<ScalarOp::equal>},
      {"Greater", 7, number_types, swapped_step<ScalarOp::less>},
      {"GreaterOrEqual", 12, number_types, swapped_step<ScalarOp::less_equal>},
      {"Less", 7, number_types, step<ScalarOp::less>},
      {"LessOrEqual", 12, number_types, step<ScalarOp::less_equal>},
  };
}

}  // namespace

const OperatorTable& compare_operators() {
  static const OperatorTable kTable = elementwise_table(kTwoInputs, compare_rows());
  return kTable;
}

}  // namespace morton::ops
