// SPDX-License-Identifier: Apache-2.0
//
// LabelEncoder, OneHotEncoder, ArrayFeatureExtractor and FeatureVectorizer: features that are
// looked up, spread, chosen and joined.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/algebra/typed_chain.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"
#include "ops/ml/lists.hpp"
#include "ops/ml/scores.hpp"

namespace morton::ops {
namespace {

/// The list that a LabelEncoder states under one of its names: keys, or values.
struct EncoderList {
  NumberList numbers;
  DType type = DType::i64;
  std::int64_t texts = 0;
  bool is_stated = false;
};

EncoderList encoder_list(const NodeView& node, const std::string& prefix) {
  EncoderList result;
  int stated = 0;
  for (const auto& [suffix, type] :
       {std::pair("_int64s", DType::i64), std::pair("_floats", DType::f32),
        std::pair("_tensor", DType::f32)}) {
    const std::string name = prefix + suffix;
    if (!node.has(name)) continue;
    ++stated;
    result.numbers = NumberList(node, name);
    const auto* tensor = std::get_if<Tensor>(&node.node().attributes.at(name));
    result.type = tensor != nullptr ? tensor->dtype() : type;
  }
  if (node.has(prefix + "_strings")) {
    ++stated;
    result.texts = static_cast<std::int64_t>(texts_of(node, prefix + "_strings").size());
  }
  if (stated > 1) node.fail("it states more than one list of '" + prefix + "'");
  result.is_stated = stated == 1;
  return result;
}

/// Where there is no key: ONNX's default of the values' type. Texts have the place -1.
Tensor encoder_default(const NodeView& node, const EncoderList& values) {
  if (const auto found = node.node().attributes.find("default_tensor");
      found != node.node().attributes.end()) {
    const auto* tensor = std::get_if<Tensor>(&found->second);
    if (tensor == nullptr || tensor->size() != 1) node.fail("'default_tensor' is no single value");
    return NumberList(*tensor).tensor(values.type, {1});
  }
  Tensor result = Tensor::allocate(values.type, {1});
  if (is_real(values.type)) {
    result.set(0, node.real("default_float", -0.0));
  } else if (values.texts > 0 || values.type != DType::i64) {
    result.set(0, values.texts > 0 ? -1.0 : static_cast<double>(node.integer("default_int64", -1)));
  } else {
    result.as_mutable<std::int64_t>()[0] = node.integer("default_int64", -1);
  }
  return result;
}

/// The values by their places from 1: the default, then what each key stands for. Texts are
/// numbers.
TensorId encoder_table(Expansion& expansion, const EncoderList& values) {
  const Tensor otherwise = encoder_default(expansion.node(), values);
  const TensorId first = expansion.constant(otherwise);
  if (values.texts == 0) {
    const std::int64_t count = values.numbers.size();
    const TensorId rest = expansion.constant(values.numbers.tensor(values.type, {count}));
    return expansion.add("Concat", {first, rest}, {{"axis", std::int64_t{0}}});
  }
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(values.texts));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return expansion.add("Concat", {first, expansion.list(numbers)}, {{"axis", std::int64_t{0}}});
}

/// A label of each element: the number of the last key that it equals, from 1, or 0.
TensorId places_of_keys(Expansion& expansion, TensorId value, const NumberList& keys) {
  const DType type = expansion.type_of(value);
  const std::int64_t count = keys.size();
  Shape shape = expansion.shape_of(value);
  shape.push_back(1);
  const TensorId columns = expansion.reshaped(value, shape);
  shape.back() = count;
  std::vector<double> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 1.0);
  Chain chain;
  chain.input_count = 3;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef key = ScalarRef::input(1);
  ScalarRef equal = chain.append(ScalarOp::equal, {x, key});
  const std::vector<double> reals = keys.reals();
  if (is_real(type) && std::ranges::any_of(reals, [](double one) { return std::isnan(one); })) {
    const ScalarRef x_nan = chain.append(ScalarOp::is_nan, {x});
    const ScalarRef key_nan = chain.append(ScalarOp::is_nan, {key});
    const ScalarRef both = chain.append(ScalarOp::logical_and, {x_nan, key_nan});
    equal = chain.append(ScalarOp::logical_or, {equal, both});
  }
  chain.append(ScalarOp::select, {equal, ScalarRef::input(2), ScalarRef::constant(0.0)});
  const TensorId found = expansion.chain(
      chain, {expansion.expanded(columns, shape), expansion.constant(keys.tensor(type, {count})),
              reals_constant(expansion, DType::i32, {count}, numbers)});
  return expansion.add("ReduceMax", {found, expansion.list({-1})}, {{"keepdims", std::int64_t{0}}});
}

/// The old form: `classes_strings` numbers texts.
std::vector<TensorId> expand_old_encoder(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const auto count = static_cast<double>(texts_of(node, "classes_strings").size());
  if (node.input(0).dtype != DType::i64) node.fail("its input is no i64");
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef below = chain.append(ScalarOp::less, {x, ScalarRef::constant(count)});
  const ScalarRef least = chain.append(ScalarOp::less_equal, {ScalarRef::constant(0.0), x});
  const ScalarRef inside = chain.append(ScalarOp::logical_and, {below, least});
  chain.append(ScalarOp::select, {inside, x, ScalarRef::constant(-1.0)});
  return {expansion.chain(chain, {expansion.input(0)})};
}

std::vector<TensorId> expand_label_encoder(Expansion& expansion) {
  const NodeView& node = expansion.node();
  if (node.has("classes_strings")) return expand_old_encoder(expansion);
  const EncoderList keys = encoder_list(node, "keys");
  const EncoderList values = encoder_list(node, "values");
  if (!keys.is_stated || !values.is_stated) node.fail("it states no keys or no values");
  const DType type = node.input(0).dtype;
  if (keys.texts > 0 || keys.type != type) {
    node.fail("its keys are " +
              (keys.texts > 0 ? std::string("texts") : std::string(name_of(keys.type))) +
              ", its input is " + std::string(name_of(type)));
  }
  const std::int64_t count = values.texts > 0 ? values.texts : values.numbers.size();
  if (keys.numbers.size() != count || count == 0) {
    node.fail("it has " + std::to_string(keys.numbers.size()) + " keys and " +
              std::to_string(count) + " values");
  }
  const TensorId places = places_of_keys(expansion, expansion.input(0), keys.numbers);
  return {expansion.add("Gather", {encoder_table(expansion, values), places})};
}

/// A column for each category: 1 where the element is it. Elements of none have zeros alone.
std::vector<TensorId> expand_one_hot_encoder(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const NumberList categories(node, "cats_int64s");
  (void)node.flag("zeros", 1);
  if (node.has("cats_strings")) node.unsupported("its categories are texts");
  if (categories.empty()) node.fail("'cats_int64s' is missing or empty");
  TensorId value = expansion.input(0);
  if (expansion.type_of(value) != DType::i64) {
    value = expansion.add("CastLike", {value, expansion.scalar(DType::i64, 0.0)});
  }
  Shape shape = expansion.shape_of(value);
  shape.push_back(1);
  const TensorId columns = expansion.reshaped(value, shape);
  shape.back() = categories.size();
  Chain chain;
  chain.input_count = 2;
  const ScalarRef equal = chain.append(ScalarOp::equal, {ScalarRef::input(0), ScalarRef::input(1)});
  chain.append_conversion(ScalarOp::cast, equal, DType::f32);
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < categories.size(); ++i) numbers.push_back(categories.whole(i));
  return {expansion.chain(chain, {expansion.expanded(columns, shape), expansion.list(numbers)})};
}

/// The columns that input 1 names.
std::vector<TensorId> expand_feature_extractor(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const Shape shape = node.input(0).shape;
  const std::int64_t count = element_count(node.input(1).shape);
  if (shape.empty()) node.fail("its input has no dimension to choose from");
  if (node.input(1).dtype != DType::i64) {
    node.fail("its places (input 1) are " + std::string(name_of(node.input(1).dtype)) +
              ", expected i64");
  }
  const TensorId places = expansion.reshaped(expansion.input(1), {count});
  const TensorId chosen = expansion.add("Gather", {expansion.input(0), places},
                                        {{"axis", static_cast<std::int64_t>(shape.size()) - 1}});
  return {shape.size() == 1 ? expansion.reshaped(chosen, {1, count}) : chosen};
}

/// The inputs side by side, each as wide as `inputdimensions` says.
std::vector<TensorId> expand_feature_vectorizer(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const NumberList widths(node, "inputdimensions");
  const auto count = static_cast<std::int64_t>(node.input_count());
  require_length(node, "inputdimensions", widths.size(), count, "one for each input");
  std::vector<TensorId> columns;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const Shape shape = node.input(i).shape;
    if (shape.empty() || shape.size() > 2) {
      node.fail("input " + std::to_string(i) + " has the shape " + to_string(shape) +
                ", expected rows of features");
    }
    const std::int64_t rows = shape.size() == 1 ? 1 : shape[0];
    const std::int64_t width = widths.whole(static_cast<std::int64_t>(i));
    if (width != shape.back()) {
      node.fail("input " + std::to_string(i) + " has " + std::to_string(shape.back()) +
                " features, 'inputdimensions' says " + std::to_string(width));
    }
    TensorId value = expansion.input(i);
    if (expansion.type_of(value) != DType::f32) {
      value = expansion.add("CastLike", {value, expansion.scalar(DType::f32, 0.0)});
    }
    columns.push_back(shape.size() == 2 ? value : expansion.reshaped(value, {rows, width}));
  }
  if (columns.size() == 1) return {expansion.add("Identity", columns)};
  return {joined(expansion, columns)};
}

Operator category_operator(std::string_view name, Operator::Inputs inputs,
                           std::vector<std::string_view> attributes,
                           std::vector<TensorId> (*expand)(Expansion& expansion)) {
  Operator op = foreign_operator(name, std::move(inputs), std::move(attributes), expand);
  op.types = all_types();
  return op;
}

}  // namespace

const OperatorTable& categories_operators() {
  static const OperatorTable kTable{
      category_operator("ai.onnx.ml.ArrayFeatureExtractor", {.least = 2, .most = 2}, {},
                        expand_feature_extractor),
      category_operator("ai.onnx.ml.FeatureVectorizer", {.most = kAnyNumber}, {"inputdimensions"},
                        expand_feature_vectorizer),
      category_operator(
          "ai.onnx.ml.LabelEncoder", {},
          {"classes_strings", "default_float", "default_int64", "default_string", "default_tensor",
           "keys_floats", "keys_int64s", "keys_strings", "keys_tensor", "values_floats",
           "values_int64s", "values_strings", "values_tensor"},
          expand_label_encoder),
      category_operator("ai.onnx.ml.OneHotEncoder", {}, {"cats_int64s", "cats_strings", "zeros"},
                        expand_one_hot_encoder),
  };
  return kTable;
}

}  // namespace morton::ops
