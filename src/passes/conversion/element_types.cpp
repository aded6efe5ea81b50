// SPDX-License-Identifier: Apache-2.0
#include "passes/conversion/element_types.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/onnx_numbers.hpp"
#include "ops/core/operator.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// The types of an operator's results, in order: a type's name, or the number of the input that
/// has it; "attribute:input" is the type that the attribute names by ONNX's number, where it names
/// one. The last word is for all further results. Other operators' results have the first input's.
constexpr std::pair<std::string_view, std::string_view> kResults[]{
    {"And", "bool"},
    {"ArgMax", "i64"},
    {"ArgMin", "i64"},
    {"Attention", "0 1 2 0"},
    {"BatchNormalization", "0 3 4"},
    {"Bernoulli", "dtype:0"},
    {"BitCast", "to:0"},
    {"BlackmanWindow", "output_datatype:f32"},
    {"Cast", "to:0"},
    {"CastLike", "1"},
    {"ConvInteger", "i32"},
    {"DequantizeLinear", "output_dtype:1"},
    {"Dropout", "0 bool"},
    {"DynamicQuantizeLinear", "u8 f32 u8"},
    {"Equal", "bool"},
    {"EyeLike", "dtype:0"},
    {"Greater", "bool"},
    {"GreaterOrEqual", "bool"},
    {"HammingWindow", "output_datatype:f32"},
    {"HannWindow", "output_datatype:f32"},
    {"IsInf", "bool"},
    {"IsNaN", "bool"},
    {"LayerNormalization", "0 stash_type:f32"},
    {"Less", "bool"},
    {"LessOrEqual", "bool"},
    {"MatMulInteger", "i32"},
    {"MaxPool", "0 i64"},
    {"MelWeightMatrix", "output_datatype:f32"},
    {"Multinomial", "dtype:i32"},
    {"NonMaxSuppression", "i64"},
    {"NonZero", "i64"},
    {"Not", "bool"},
    {"OneHot", "2"},
    {"OptionalHasElement", "bool"},
    {"Or", "bool"},
    {"QLinearConv", "7"},
    {"QLinearMatMul", "7"},
    {"QuantizeLinear", "output_dtype:2:u8"},
    {"RMSNormalization", "1"},
    {"RandomNormal", "dtype:f32"},
    {"RandomNormalLike", "dtype:0"},
    {"RandomUniform", "dtype:f32"},
    {"RandomUniformLike", "dtype:0"},
    {"SequenceEmpty", "dtype:f32"},
    {"SequenceLength", "i64"},
    {"Shape", "i64"},
    {"Size", "i64"},
    {"TopK", "0 i64"},
    {"Unique", "0 i64"},
    {"Where", "1"},
    {"Xor", "bool"},
    {"ai.onnx.ml.FeatureVectorizer", "f32"},
    {"ai.onnx.ml.LinearClassifier", "i64 f32"},
    {"ai.onnx.ml.LinearRegressor", "f32"},
    {"ai.onnx.ml.Normalizer", "f32"},
    {"ai.onnx.ml.OneHotEncoder", "f32"},
    {"ai.onnx.ml.SVMClassifier", "i64 f32"},
    {"ai.onnx.ml.SVMRegressor", "f32"},
    {"ai.onnx.ml.Scaler", "f32"},
    {"ai.onnx.ml.TreeEnsembleClassifier", "i64 f32"},
    {"ai.onnx.ml.TreeEnsembleRegressor", "f32"},
    {"com.microsoft.DequantizeLinear", "1"},
    {"com.microsoft.EmbedLayerNormalization", "2 i32 2"},
    {"com.microsoft.MatMulIntegerToFloat", "2"},
    {"com.microsoft.QGemm", "8:f32"},
    {"com.microsoft.QLinearAdd", "7"},
    {"com.microsoft.QLinearAveragePool", "4"},
    {"com.microsoft.QLinearConcat", "1"},
    {"com.microsoft.QLinearGlobalAveragePool", "4"},
    {"com.microsoft.QLinearMul", "7"},
    {"com.microsoft.QuantizeLinear", "2:u8"},
    {"com.microsoft.SkipLayerNormalization", "0 f32 f32 0"},
    {"com.microsoft.SkipSimplifiedLayerNormalization", "0 f32 f32 0"},
};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The number that a text is, or nothing.
std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

class NodeTypes {
 public:
  NodeTypes(const Node& node, const ElementTypes& known) : node_(node), known_(known) {}

  [[nodiscard]] std::optional<DType> result(std::size_t i) const {
    if (!node_.bodies.empty() || find_operator(node_.op) == nullptr) return {};
    // Its value is a number of the wanted type.
    if (node_.op == "ConstantOfShape") {
      const auto value = node_.attributes.find("value");
      if (value == node_.attributes.end()) return DType::f32;
      const auto* number = std::get_if<Tensor>(&value->second);
      return number == nullptr ? std::nullopt : std::optional(number->dtype());
    }
    const auto* found = std::ranges::lower_bound(kResults, std::string_view(node_.op), {},
                                                 [](const auto& row) { return row.first; });
    if (found == std::end(kResults) || found->first != node_.op) return input(0);
    const auto words = split(found->second, ' ');
    for (const std::string_view choice : split(words[std::min(i, words.size() - 1)], ':')) {
      if (const auto type = one_of(choice)) return type;
    }
    return {};
  }

 private:
  [[nodiscard]] std::optional<DType> input(std::size_t i) const {
    const bool is_there = i < node_.inputs.size() && node_.inputs[i] != kNoTensor;
    return is_there ? known_[node_.inputs[i]] : std::nullopt;
  }

  [[nodiscard]] std::optional<DType> one_of(std::string_view choice) const {
    if (const auto number = number_in(choice)) return input(*number);
    for (const DType type : {DType::f32, DType::boolean, DType::i64, DType::i32, DType::u8}) {
      if (choice == name_of(type)) return type;
    }
    return type_of_onnx(integer_of(node_, std::string(choice), 0));
  }

  const Node& node_;
  const ElementTypes& known_;
};

}  // namespace

Indexed<TensorId, bool> lists_of(const Graph& graph) {
  constexpr std::string_view kMakers[]{"Optional",       "SequenceConstruct", "SequenceEmpty",
                                       "SequenceErase",  "SequenceInsert",    "SequenceMap",
                                       "SplitToSequence"};
  Indexed<TensorId, bool> lists(graph.tensors.size());
  for (const TensorId id : graph.tensors.ids()) lists[id] = !graph.tensor(id).form.is_tensor();
  for (const Node& node : graph.nodes) {
    const bool passes_on = node.op == "Identity" && lists[node.inputs[0]];
    if (!passes_on && std::ranges::find(kMakers, node.op) == std::end(kMakers)) continue;
    for (const TensorId id : node.outputs) {
      if (id != kNoTensor) lists[id] = true;
    }
  }
  return lists;
}

ElementTypes element_types(const Graph& graph) {
  ElementTypes types(graph.tensors.size());
  for (const TensorId id : graph.tensors.ids()) {
    const GraphTensor& tensor = graph.tensor(id);
    if (tensor.kind != GraphTensor::Kind::activation) types[id] = tensor.dtype;
  }
  for (const Node& node : graph.nodes) {
    const NodeTypes rules(node, types);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoTensor) types[node.outputs[i]] = rules.result(i);
    }
  }
  return types;
}

}  // namespace morton::passes
