// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// All inputs added up.
Chain sum_chain(const NodeView& node) { return sum_of(node); }

}  // namespace

const Operator& operator_Sum() {
  static const Operator kOperator{
      .name = "Sum",
      .most_inputs = kMostVariadic,
      .since_opset = 6,
      .chain = sum_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
