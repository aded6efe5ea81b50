// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {

const Operator& operator_Identity() {
  static const Operator kOperator{
      .name = "Identity",
      .since_opset = 1,
      .infer = [](const NodeView& node) { return std::vector<TensorType>{node.input(0)}; },
      .host = {.alias = true},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
