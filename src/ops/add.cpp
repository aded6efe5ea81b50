// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {

const Operator& operator_Add() {
  static const Operator kOperator{
      .name = "Add",
      .least_inputs = 2,
      .most_inputs = 2,
      .chain = [](const NodeView&) { return single_step(ScalarOp::add); },
      .types = number_types(),
      .parameters = {0, 1},
  };
  return kOperator;
}

}  // namespace morton::ops
