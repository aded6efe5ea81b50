// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/typed_chain.hpp"
#include "base/numbers/small_types.hpp"
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/elementwise/casting.hpp"
#include "ops/quantised/granularity.hpp"

namespace morton::ops {
namespace {

/// What an attribute says, or the scale's type.
DType dequantised_type(const NodeView& node) {
  const bool stated = node.integer("output_dtype", 0) != 0;
  const DType type = stated ? type_attribute(node, "output_dtype") : node.input(1).dtype;
  if (is_real(type)) return type;
  node.fail("gives " + std::string(name_of(type)) + "; expected a real type" +
            (stated ? "" : ", which output_dtype can name"));
}

void check_dequantised_types(const NodeView& node) {
  const DType scale = node.input(1).dtype;
  if (!is_real(scale) && scale != DType::f8e8m0) {
    node.fail("the scale is of type " + std::string(name_of(scale)) +
              "; expected a real type or f8e8m0");
  }
  const DType type = node.input(0).dtype;
  if (is_real(type) || type == DType::boolean || type == DType::f8e8m0) {
    node.fail("input 0 is of type " + std::string(name_of(type)) +
              "; expected an integer, float8, float6 or float4");
  }
}

/// (x - zero point) * scale.
std::vector<TensorId> expand_dequantize_linear(Expansion& to) {
  const NodeView& node = to.node();
  check_dequantised_types(node);
  const DType type = node.input(0).dtype;
  const DType result = dequantised_type(node);
  const DType within = register_type(result);
  const std::vector<TensorId> operands = quantisation_operands(to, type);
  const bool has_zero = operands.size() > 2;

  Chain chain;
  chain.input_count = static_cast<int>(operands.size());
  const auto as = [&](ScalarRef value, DType given, DType target) {
    return given == target ? value : chain.append_conversion(ScalarOp::cast, value, target);
  };
  // Differences of whole numbers are exact: those of 32 bits before they become real.
  const bool is_long = bits_of(type) > 16;
  ScalarRef value = ScalarRef::input(0);
  if (!is_long) value = as(value, type, within);
  if (has_zero && !is_zero(node, 2)) {
    const auto known = known_number(node, 2, is_long ? type : within);
    const ScalarRef given = ScalarRef::input(2);
    const ScalarRef zero = known ? *known : is_long ? given : as(given, type, within);
    value = chain.append(ScalarOp::sub, {value, zero});
  }
  if (is_long) value = as(value, type, within);
  const auto known = known_number(node, 1, within);
  const ScalarRef scale = known ? *known : as(ScalarRef::input(1), node.input(1).dtype, within);
  value = chain.append(ScalarOp::mul, {value, scale});
  if (result != within) chain.append_conversion(ScalarOp::cast, value, result);
  return {to.chain(chain, operands)};
}

}  // namespace

const Operator& operator_DequantizeLinear() {
  static const Operator kOperator{
      .name = "DequantizeLinear",
      .inputs = {.least = 2, .most = 3, .types = Operator::Inputs::Types::any, .parameters = {1}},
      .attributes = {"axis", "block_size", "output_dtype"},
      .since_opset = 10,
      .expand = expand_dequantize_linear,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
