// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

/// The exponents that exporters write as constants have shorter chains, which are more exact too.
bool append_common_power(Chain& chain, double exponent, DType type) {
  const ScalarRef x = ScalarRef::input(0);
  if (exponent == 2.0 || exponent == 3.0) {
    const ScalarRef square = chain.append(ScalarOp::mul, {x, x});
    if (exponent == 3.0) chain.append(ScalarOp::mul, {square, x});
    return true;
  }
  if (exponent != 0.5 || !is_real(type)) return false;
  // A power differs from a root for -0 and for -infinity: it is 0 and infinity.
  const ScalarRef plus_zero = chain.append(ScalarOp::add, {x, ScalarRef::constant(0.0)});
  const ScalarRef root = chain.append(ScalarOp::sqrt, {plus_zero});
  const ScalarRef infinite = chain.append(ScalarOp::is_inf, {x});
  const ScalarRef size = chain.append(ScalarOp::abs, {x});
  chain.append(ScalarOp::select, {infinite, size, root});
  return true;
}

/// Whole powers of integers are exact; others are computed as reals and truncated.
void append_integer_power(Chain& chain, DType base, DType exponent) {
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef y = ScalarRef::input(1);
  const ScalarRef whole = exponent == base ? y : chain.append_conversion(ScalarOp::cast, y, base);
  const ScalarRef exact = chain.append(ScalarOp::pow, {x, whole});
  if (!is_real(exponent)) return;
  const ScalarRef truncated = chain.append(ScalarOp::trunc, {y});
  const ScalarRef is_whole = chain.append(ScalarOp::equal, {y, truncated});
  const ScalarRef as_real = chain.append_conversion(ScalarOp::cast, x, exponent);
  const ScalarRef power = chain.append(ScalarOp::pow, {as_real, y});
  const ScalarRef cut = chain.append_conversion(ScalarOp::cast, power, base);
  chain.append(ScalarOp::select, {is_whole, exact, cut});
}

/// x to the power of y, of x's type; from opset 12 on y may be of another.
Chain pow_chain(const NodeView& node) {
  const DType base = node.input(0).dtype;
  const DType exponent = node.input(1).dtype;
  if (node.opset() < 12 && base != exponent) {
    node.fail("base and exponent are " + std::string(name_of(base)) + " and " +
              std::string(name_of(exponent)) + "; before opset 12 they must be the same");
  }
  Chain chain;
  chain.input_count = 2;
  const Tensor* constant = node.constant(1);
  const bool scalar = constant != nullptr && constant->size() == 1;
  if (scalar && append_common_power(chain, constant->at(0), base)) return chain;
  if (!is_real(base)) {
    append_integer_power(chain, base, exponent);
    return chain;
  }
  ScalarRef y = ScalarRef::input(1);
  if (register_type(base) != register_type(exponent)) {
    y = chain.append_conversion(ScalarOp::cast, y, register_type(base));
  }
  chain.append(ScalarOp::pow, {ScalarRef::input(0), y});
  return chain;
}

}  // namespace

const Operator& operator_Pow() {
  static const Operator kOperator{
      .name = "Pow",
      .inputs = {.least = 2, .most = 2, .types = Operator::Inputs::Types::any},
      .chain = pow_chain,
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
