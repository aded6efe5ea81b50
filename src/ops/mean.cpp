// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// The sum of all inputs over their number.
Chain mean_chain(const NodeView& node) {
  Chain chain = sum_of(node);
  const auto count = static_cast<double>(node.input_count());
  chain.append(ScalarOp::div, {chain.result, ScalarRef::constant(count)});
  return chain;
}

}  // namespace

const Operator& operator_Mean() {
  static const Operator kOperator{
      .name = "Mean",
      .most_inputs = kMostVariadic,
      .since_opset = 6,
      .chain = mean_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
