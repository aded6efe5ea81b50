// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// What division leaves: with fmod = 0 (integers) it has the sign of the divisor, with fmod = 1
/// that of the dividend.
Chain mod_chain(const NodeView& node) {
  const DType type = node.input(0).dtype;
  const bool as_in_c = node.flag("fmod", 0);
  if (!as_in_c && is_real(type)) node.fail("fmod is 0, which is for integers; expected 1");
  Chain chain = single_step(ScalarOp::rem);
  if (as_in_c || is_unsigned(type)) return chain;
  const ScalarRef rest = chain.result;
  const ScalarRef divisor = ScalarRef::input(1);
  const ScalarRef zero = ScalarRef::constant(0.0);
  const ScalarRef is_zero = chain.append(ScalarOp::equal, {rest, zero});
  const ScalarRef is_left = chain.append(ScalarOp::logical_not, {is_zero});
  const ScalarRef below = chain.append(ScalarOp::less, {rest, zero});
  const ScalarRef divisor_below = chain.append(ScalarOp::less, {divisor, zero});
  const ScalarRef differ = chain.append(ScalarOp::logical_xor, {below, divisor_below});
  const ScalarRef moves = chain.append(ScalarOp::logical_and, {is_left, differ});
  const ScalarRef moved = chain.append(ScalarOp::add, {rest, divisor});
  chain.append(ScalarOp::select, {moves, moved, rest});
  return chain;
}

}  // namespace

const Operator& operator_Mod() {
  static const Operator kOperator{
      .name = "Mod",
      .least_inputs = 2,
      .most_inputs = 2,
      .attributes = {"fmod"},
      .since_opset = 10,
      .chain = mod_chain,
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
