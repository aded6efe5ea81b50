// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// Which of the two infinities count is said by flags.
Chain is_inf_chain(const NodeView& node) {
  const bool positive = node.flag("detect_positive", 1);
  const bool negative = node.flag("detect_negative", 1);
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef infinite = chain.append(ScalarOp::is_inf, {x});
  if (positive && negative) return chain;
  if (!positive && !negative) {
    chain.append(ScalarOp::logical_xor, {infinite, infinite});
    return chain;
  }
  const ScalarRef zero = ScalarRef::constant(0.0);
  const std::vector<ScalarRef> ordered =
      positive ? std::vector<ScalarRef>{zero, x} : std::vector<ScalarRef>{x, zero};
  const ScalarRef wanted = chain.append(ScalarOp::less, ordered);
  chain.append(ScalarOp::logical_and, {infinite, wanted});
  return chain;
}

}  // namespace

const Operator& operator_IsInf() {
  static const Operator kOperator{
      .name = "IsInf",
      .attributes = {"detect_negative", "detect_positive"},
      .since_opset = 10,
      .chain = is_inf_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
