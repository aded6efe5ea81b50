// SPDX-License-Identifier: Apache-2.0
//
// Scaler, Normalizer, Imputer and Binarizer: what is done to features before a model.
#include <algorithm>
#include <cmath>

#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"
#include "ops/ml/lists.hpp"
#include "ops/ml/scores.hpp"

namespace morton::ops {
namespace {

/// One number for all features, or one for each.
void check_per_feature(const NodeView& node, std::string_view name, std::int64_t count) {
  const std::int64_t features = rows_of(node, RowRank::any).features;
  if (count == 1 || count == features) return;
  node.fail("'" + std::string(name) + "' has " + std::to_string(count) +
            " numbers, expected 1 or " + std::to_string(features) + ", one for each feature");
}

TensorId in_shape_of_input(Expansion& expansion, TensorId value) {
  const Shape shape = expansion.node().input(0).shape;
  return expansion.shape_of(value) == shape ? value : expansion.reshaped(value, shape);
}

TensorId converted(Expansion& expansion, TensorId value, DType type) {
  if (expansion.type_of(value) == type) return value;
  return expansion.add("CastLike", {value, expansion.scalar(type, 0.0)});
}

/// (x - offset) * scale.
std::vector<TensorId> expand_scaler(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const bool is_f64 = node.input(0).dtype == DType::f64;
  const DType type = is_f64 ? DType::f64 : DType::f32;
  TensorId value = rows_as(expansion, type, RowRank::any);
  for (const auto& [name, op] : {std::pair("offset", "Sub"), std::pair("scale", "Mul")}) {
    const NumberList list(node, name);
    if (list.empty()) node.fail("'" + std::string(name) + "' is missing or empty");
    check_per_feature(node, name, list.size());
    value =
        expansion.add(op, {value, reals_constant(expansion, type, {1, list.size()}, list.reals())});
  }
  return {in_shape_of_input(expansion, converted(expansion, value, DType::f32))};
}

/// A divisor that is 0 leaves its row as it is.
Chain one_for_zero() {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef is_zero = chain.append(ScalarOp::equal, {x, ScalarRef::constant(0.0)});
  chain.append(ScalarOp::select, {is_zero, ScalarRef::constant(1.0), x});
  return chain;
}

std::vector<TensorId> expand_normalizer(Expansion& expansion) {
  const NodeView& node = expansion.node();
  constexpr std::string_view kReductions[] = {"ReduceMax", "ReduceL1", "ReduceL2"};
  const std::size_t norm = choice_of(node, "norm", "MAX", {"MAX", "L1", "L2"});
  const TensorId rows = rows_as(expansion, DType::f32, RowRank::any);
  const TensorId size = expansion.add(kReductions[norm], {rows, expansion.list({1})},
                                      {{"keepdims", std::int64_t{1}}});
  const TensorId divisor = expansion.chain(one_for_zero(), {size});
  return {in_shape_of_input(expansion, expansion.add("Div", {rows, divisor}))};
}

/// Input 0, or input 1 where that equals input 2, which is `replaced`; a NaN equals a NaN.
Chain imputed(double replaced) {
  Chain chain;
  chain.input_count = 3;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef is_missing = std::isnan(replaced)
                                   ? chain.append(ScalarOp::is_nan, {x})
                                   : chain.append(ScalarOp::equal, {x, ScalarRef::input(2)});
  chain.append(ScalarOp::select, {is_missing, ScalarRef::input(1), x});
  return chain;
}

std::vector<TensorId> expand_imputer(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const DType type = node.input(0).dtype;
  const bool real = type == DType::f32 || type == DType::f64;
  const std::string_view name = real ? "imputed_value_floats" : "imputed_value_int64s";
  const NumberList values(node, name);
  if (values.empty()) {
    node.fail("its input is " + std::string(name_of(type)) + ", so it needs '" + std::string(name) +
              "'");
  }
  check_per_feature(node, name, values.size());
  const std::int64_t whole = node.integer("replaced_value_int64", 0);
  Tensor replaced = Tensor::allocate(type, {1, 1});
  replaced.set(0, real ? node.real("replaced_value_float", 0.0) : static_cast<double>(whole));
  if (type == DType::i64) replaced.as_mutable<std::int64_t>()[0] = whole;
  const Chain chain = imputed(replaced.at(0));
  const TensorId rows = rows_as(expansion, type, RowRank::any);
  const TensorId constant = expansion.constant(values.tensor(type, {1, values.size()}));
  const TensorId missing = expansion.constant(std::move(replaced));
  return {in_shape_of_input(expansion, expansion.chain(chain, {rows, constant, missing}))};
}

/// 1 above the threshold, else 0, of the input's type.
Chain binarizer_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef threshold = ScalarRef::constant(node.real("threshold", 0.0));
  const ScalarRef above = chain.append(ScalarOp::less, {threshold, ScalarRef::input(0)});
  chain.append_conversion(ScalarOp::cast, above, node.input(0).dtype);
  return chain;
}

}  // namespace

const OperatorTable& scaling_operators() {
  static const OperatorTable kTable{
      {.name = "ai.onnx.ml.Binarizer",
       .attributes = {"threshold"},
       .since_opset = 1,
       .chain = binarizer_chain,
       .types = feature_types(),
       .home = Operator::Home::other},
      feature_operator("ai.onnx.ml.Imputer",
                       {"imputed_value_floats", "imputed_value_int64s", "replaced_value_float",
                        "replaced_value_int64"},
                       expand_imputer),
      feature_operator("ai.onnx.ml.Normalizer", {"norm"}, expand_normalizer),
      feature_operator("ai.onnx.ml.Scaler", {"offset", "scale"}, expand_scaler),
  };
  return kTable;
}

}  // namespace morton::ops
