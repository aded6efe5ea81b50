// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of two inputs.
#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/elementwise/table.hpp"

namespace morton::ops {
namespace {

/// A quotient's rest that is 0 of reals has the sign of the divisor.
ScalarRef append_zero_of(Chain& chain, ScalarRef divisor) {
  const ScalarRef sign = chain.append(ScalarOp::sign, {divisor});
  return chain.append(ScalarOp::mul, {sign, ScalarRef::constant(0.0)});
}

/// What division leaves: with fmod = 0 it has the sign of the divisor, with fmod = 1 that of the
/// dividend.
Chain mod_chain(const NodeView& node) {
  const DType type = node.input(0).dtype;
  const bool as_in_c = node.flag("fmod", 0);
  if (!as_in_c && is_real(type) && node.opset() < 28) {
    node.fail("fmod is 0, which is for integers before opset 28; expected 1");
  }
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
  const ScalarRef whole = chain.append(ScalarOp::select, {moves, moved, rest});
  if (!is_real(type)) return chain;
  const ScalarRef signed_zero = append_zero_of(chain, divisor);
  chain.append(ScalarOp::select, {is_zero, signed_zero, whole});
  return chain;
}

/// x where it is not below 0, else slope * x.
Chain prelu_chain(const NodeView& /*node*/) {
  Chain chain;
  chain.input_count = 2;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef below = chain.append(ScalarOp::less, {x, ScalarRef::constant(0.0)});
  const ScalarRef leak = chain.append(ScalarOp::mul, {x, ScalarRef::input(1)});
  chain.append(ScalarOp::select, {below, leak, x});
  return chain;
}

std::vector<ElementwiseRow> binary_rows() {
  return {
      {"Add", 7, number_types, step<ScalarOp::add>, {.parameters = {0, 1}}},
      {"Div", 7, number_types, step<ScalarOp::div>, {.parameters = {0, 1}}},
      {"Mod", 10, number_types, mod_chain, {.attributes = {"fmod"}}},
      {"Mul", 7, number_types, step<ScalarOp::mul>, {.parameters = {0, 1}}},
      {"PRelu", 7, number_types, prelu_chain, {.parameters = {1}}},
      {"Sub", 7, number_types, step<ScalarOp::sub>, {.parameters = {0, 1}}},
  };
}

}  // namespace

const OperatorTable& binary_operators() {
  static const OperatorTable kTable = elementwise_table(kTwoInputs, binary_rows());
  return kTable;
}

}  // namespace morton::ops
