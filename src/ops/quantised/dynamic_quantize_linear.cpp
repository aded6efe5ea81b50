// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {
namespace {

constexpr double kMostCode = 255.0;

/// The range of all elements, 0 included, over 255; 1 of zeros alone, so that nobody divides by 0.
Chain scale_of_range() {
  Chain chain;
  chain.input_count = 2;
  const ScalarRef zero = ScalarRef::constant(0.0);
  const ScalarRef most = chain.append(ScalarOp::max, {ScalarRef::input(0), zero});
  const ScalarRef least = chain.append(ScalarOp::min, {ScalarRef::input(1), zero});
  const ScalarRef range = chain.append(ScalarOp::sub, {most, least});
  const ScalarRef scale = chain.append(ScalarOp::div, {range, ScalarRef::constant(kMostCode)});
  const ScalarRef is_zero = chain.append(ScalarOp::equal, {scale, zero});
  chain.append(ScalarOp::select, {is_zero, ScalarRef::constant(1.0), scale});
  return chain;
}

/// The code of 0, of the scale and the least element.
Chain zero_of_range() {
  Chain chain;
  chain.input_count = 2;
  const ScalarRef zero = ScalarRef::constant(0.0);
  const ScalarRef least = chain.append(ScalarOp::min, {ScalarRef::input(1), zero});
  const ScalarRef quotient = chain.append(ScalarOp::div, {least, ScalarRef::input(0)});
  const ScalarRef code = chain.append(ScalarOp::sub, {zero, quotient});
  chain.append_conversion(ScalarOp::saturate, code, DType::u8);
  return chain;
}

/// Codes of u8 for the range that the elements have, its scale, and the code of 0.
std::vector<TensorId> expand_dynamic_quantize_linear(Expansion& to) {
  const TensorType x = to.node().input(0);
  if (x.dtype != DType::f32) {
    to.node().fail("input 0 is of type " + std::string(name_of(x.dtype)) + "; expected f32");
  }
  const std::vector<TensorId> in{to.input(0)};
  const TensorId most = to.add("ReduceMax", in, {{"keepdims", std::int64_t{0}}});
  const TensorId least = to.add("ReduceMin", in, {{"keepdims", std::int64_t{0}}});
  const TensorId scale = to.chain(scale_of_range(), {most, least});
  const TensorId zero = to.chain(zero_of_range(), {scale, least});
  return {to.add("QuantizeLinear", {to.input(0), scale, zero}), scale, zero};
}

}  // namespace

const Operator& operator_DynamicQuantizeLinear() {
  static const Operator kOperator{
      .name = "DynamicQuantizeLinear",
      .since_opset = 11,
      .expand = expand_dynamic_quantize_linear,
      .types = {DType::f32, DType::u8},
  };
  return kOperator;
}

}  // namespace morton::ops
