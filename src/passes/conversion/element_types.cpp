// SPDX-License-Identifier: Apache-2.0
#include "passes/conversion/element_types.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/numbers/onnx_numbers.hpp"
#include "base/text/split.hpp"
#include "ops/core/operator.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// The types of an operator's results, in order: a type's name, or the number of the input that
/// has it; "attribute:input" is the type that the attribute has or names by ONNX's number, where it
/// is there. The last word is for all further results. Those of elementwise operators follow from
/// their chains, and other operators' results have the first input's.
constexpr std::pair<std::string_view, std::string_view> kResults[]{
    {"ArgMax", "i64"},
    {"ArgMin", "i64"},
    {"Attention", "0 1 2 0"},
    {"BatchNormalization", "0 3 4"},
    {"Bernoulli", "dtype:0"},
    {"BitCast", "to:0"},
    {"BlackmanWindow", "output_datatype:f32"},
    {"Cast", "to:0"},
    {"CastLike", "1"},
    {"ConstantOfShape", "value:f32"},
    {"ConvInteger", "i32"},
    {"DequantizeLinear", "output_dtype:1"},
    {"Dropout", "0 bool"},
    {"DynamicQuantizeLinear", "u8 f32 u8"},
    {"EyeLike", "dtype:0"},
    {"HammingWindow", "output_datatype:f32"},
    {"HannWindow", "output_datatype:f32"},
    {"LayerNormalization", "0 stash_type:f32"},
    {"MatMulInteger", "i32"},
    {"MaxPool", "0 i64"},
    {"MelWeightMatrix", "output_datatype:f32"},
    {"Multinomial", "dtype:i32"},
    {"NonMaxSuppression", "i64"},
    {"NonZero", "i64"},
    {"OneHot", "2"},
    {"OptionalHasElement", "bool"},
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
    {"ai.onnx.ml.FeatureVectorizer", "f32"},
    {"ai.onnx.ml.LabelEncoder", "values_tensor:values_floats:i64"},
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

/// The number that a text is, or nothing.
std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

class NodeTypes {
 public:
  NodeTypes(const Graph& graph, const Node& node, const ElementTypes& known)
      : graph_(graph), node_(node), known_(known) {}

  [[nodiscard]] std::optional<DType> result(std::size_t i) const {
    const Operator* op = find_operator(node_.op);
    // A file has none of those inside.
    if (!node_.bodies.empty() || op == nullptr || op->home == Operator::Home::inside) return {};
    if (op->chain != nullptr) return elementwise(*op);
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

  /// Of no extents, since only its types count.
  [[nodiscard]] std::optional<DType> elementwise(const Operator& op) const {
    Graph graph;
    graph.opset = graph_.opset;
    Node node = node_;
    std::vector<DType> types;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoTensor) {
        types.push_back(types.front());  // the chain does not read it
        continue;
      }
      const std::optional<DType> type = input(i);
      if (!type) return {};
      types.push_back(*type);
      GraphTensor operand;
      operand.dtype = *type;
      operand.kind = graph_.tensor(node.inputs[i]).kind;
      operand.data = graph_.tensor(node.inputs[i]).data;
      node.inputs[i] = graph.add_tensor(std::move(operand));
    }
    try {
      return TypedChain(op.chain(NodeView(graph, node)), std::move(types)).result_type();
    } catch (const ModelError&) {
      return {};  // whoever plans the model says what does not fit
    }
  }

  [[nodiscard]] std::optional<DType> one_of(std::string_view choice) const {
    if (const auto number = number_in(choice)) return input(*number);
    for (const DType type : {DType::f32, DType::boolean, DType::i64, DType::i32, DType::u8}) {
      if (choice == name_of(type)) return type;
    }
    const auto attribute = node_.attributes.find(std::string(choice));
    if (attribute == node_.attributes.end()) return {};
    if (const auto* tensor = std::get_if<Tensor>(&attribute->second)) return tensor->dtype();
    if (std::holds_alternative<std::vector<double>>(attribute->second)) return DType::f32;
    const auto* number = std::get_if<std::int64_t>(&attribute->second);
    return number == nullptr ? std::nullopt : type_of_onnx(*number);
  }

  const Graph& graph_;
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
    const NodeTypes rules(graph, node, types);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoTensor) types[node.outputs[i]] = rules.result(i);
    }
  }
  return types;
}

}  // namespace morton::passes
