// SPDX-License-Identifier: Apache-2.0
//
// Functions of one input; activations have a table of their own (activation.cpp).
#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/elementwise/table.hpp"

namespace morton::ops {
namespace {

/// 1 / x.
Chain reciprocal_chain(const NodeView& /*node*/) {
  Chain chain;
  chain.append(ScalarOp::div, {ScalarRef::constant(1.0), ScalarRef::input(0)});
  return chain;
}

/// What can be asked whether it is a NaN or infinite: reals, and float8.
std::vector<DType> tested_types() {
  return {DType::f32,      DType::f16,        DType::bf16,   DType::f64,
          DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz};
}

/// The input; of float8 as f32.
ScalarRef append_real(Chain& chain, const NodeView& node) {
  const ScalarRef x = ScalarRef::input(0);
  if (is_real(node.input(0).dtype)) return x;
  return chain.append_conversion(ScalarOp::cast, x, DType::f32);
}

Chain nan_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef x = append_real(chain, node);
  chain.append(ScalarOp::is_nan, {x});
  return chain;
}

/// Which of the two infinities count is said by flags.
Chain inf_chain(const NodeView& node) {
  const bool positive = node.flag("detect_positive", 1);
  const bool negative = node.flag("detect_negative", 1);
  Chain chain;
  const ScalarRef x = append_real(chain, node);
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

std::vector<ElementwiseRow> unary_rows() {
  return {
      {"Abs", 6, number_types, step<ScalarOp::abs>},
      {"Acos", 7, real_types, step<ScalarOp::acos>},
      {"Acosh", 9, real_types, step<ScalarOp::acosh>},
      {"Asin", 7, real_types, step<ScalarOp::asin>},
      {"Asinh", 9, real_types, step<ScalarOp::asinh>},
      {"Atan", 7, real_types, step<ScalarOp::atan>},
      {"Atanh", 9, real_types, step<ScalarOp::atanh>},
      {"BitwiseNot", 18, integer_types, step<ScalarOp::bit_not>},
      {"Ceil", 6, real_types, step<ScalarOp::ceil>},
      {"Cos", 7, real_types, step<ScalarOp::cos>},
      {"Cosh", 9, real_types, step<ScalarOp::cosh>},
      {"Erf", 9, real_types, step<ScalarOp::erf>},
      {"Exp", 6, real_types, step<ScalarOp::exp>},
      {"Floor", 6, real_types, step<ScalarOp::floor>},
      {"IsInf",
       10,
       tested_types,
       inf_chain,
       {.attributes = {"detect_negative", "detect_positive"}}},
      {"IsNaN", 9, tested_types, nan_chain},
      {"Log", 6, real_types, step<ScalarOp::log>},
      {"Neg", 6, number_types, step<ScalarOp::neg>},
      {"Not", 1, boolean_type, step<ScalarOp::logical_not>},
      {"Reciprocal", 6, real_types, reciprocal_chain},
      {"Round", 11, real_types, step<ScalarOp::round>},
      {"Sign", 9, number_types, step<ScalarOp::sign>},
      {"Sin", 7, real_types, step<ScalarOp::sin>},
      {"Sinh", 9, real_types, step<ScalarOp::sinh>},
      {"Sqrt", 6, real_types, step<ScalarOp::sqrt>},
      {"Tan", 7, real_types, step<ScalarOp::tan>},
      {"Tanh", 6, real_types, step<ScalarOp::tanh>},
  };
}

}  // namespace

const OperatorTable& unary_operators() {
  static const OperatorTable kTable = elementwise_table(kOneInput, unary_rows());
  return kTable;
}

}  // namespace morton::ops
