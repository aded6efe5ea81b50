// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/small_types.hpp"
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/elementwise/casting.hpp"
#include "ops/quantised/granularity.hpp"

namespace morton::ops {
namespace {

constexpr std::array kQuantised{
    DType::u8,         DType::i8,     DType::u16,        DType::i16,    DType::f8e4m3fn,
    DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::u4,     DType::i4,
    DType::f4e2m1,     DType::u2,     DType::i2,         DType::f6e2m3, DType::f6e3m2,
};

/// The zero point's type, or what an attribute says, or u8.
DType quantised_type(const NodeView& node) {
  const bool stated = node.integer("output_dtype", 0) != 0;
  DType type = DType::u8;
  if (stated) type = type_attribute(node, "output_dtype");
  if (node.has_input(2) && !stated) type = node.input(2).dtype;
  if (std::ranges::find(kQuantised, type) != kQuantised.end()) return type;
  node.fail("quantises to " + std::string(name_of(type)) +
            "; expected an integer of at most 16 bits, float8, float6 or float4");
}

/// The type in which the quotient is computed.
DType quotient_type(const NodeView& node) {
  const DType scale = node.input(1).dtype;
  if (node.integer("precision", 0) == 0) return is_real(scale) ? scale : DType::f32;
  const DType type = type_attribute(node, "precision");
  if (is_real(type)) return type;
  node.fail("computes its quotient in " + std::string(name_of(type)) + "; expected a real type");
}

void check_quantised_types(const NodeView& node) {
  const auto one_of = [&](std::size_t i, std::initializer_list<DType> types) {
    const DType type = node.input(i).dtype;
    if (std::find(types.begin(), types.end(), type) != types.end()) return;
    node.fail("input " + std::to_string(i) + " is of type " + std::string(name_of(type)) +
              "; expected a real type, i32" + (i == 1 ? " or f8e8m0" : ""));
  };
  one_of(0, {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i32});
  one_of(1, {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i32, DType::f8e8m0});
}

/// saturate(x / scale + zero point), the quotient rounded to even where the result is an integer.
std::vector<TensorId> expand_quantize_linear(Expansion& to) {
  const NodeView& node = to.node();
  check_quantised_types(node);
  const DType type = quantised_type(node);
  const DType quotient = quotient_type(node);
  const DType within = register_type(quotient);
  const std::vector<TensorId> operands = quantisation_operands(to, type);
  const bool has_zero = operands.size() > 2;

  Chain chain;
  chain.input_count = static_cast<int>(operands.size());
  const auto as = [&](int input, DType target) {
    const auto i = static_cast<std::size_t>(input);
    if (const auto known = known_number(node, i, target)) return *known;
    const ScalarRef value = ScalarRef::input(input);
    const DType given = node.input(i).dtype;
    return given == target ? value : chain.append_conversion(ScalarOp::cast, value, target);
  };
  ScalarRef value = chain.append(ScalarOp::div, {as(0, quotient), as(1, quotient)});
  if (quotient != within) value = chain.append_conversion(ScalarOp::cast, value, quotient);
  const bool is_integer = !is_stored_real(type);
  if (is_integer) value = chain.append(ScalarOp::round, {value});
  if (has_zero && !is_zero(node, 2)) {
    value = chain.append(ScalarOp::add, {value, as(2, within)});
  }
  const ScalarOp conversion = is_integer ? ScalarOp::saturate : conversion_of(node, type);
  chain.append_conversion(conversion, value, type);
  return {to.chain(chain, operands)};
}

}  // namespace

const Operator& operator_QuantizeLinear() {
  static const Operator kOperator{
      .name = "QuantizeLinear",
      .inputs = {.least = 2, .most = 3, .types = Operator::Inputs::Types::any},
      .attributes = {"axis", "block_size", "output_dtype", "precision", "saturate"},
      .since_opset = 10,
      .expand = expand_quantize_linear,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
