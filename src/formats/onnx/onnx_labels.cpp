// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_labels.hpp"

#include "base/error.hpp"
#include "formats/quotes.hpp"

namespace morton::formats {
namespace {

using Texts = std::vector<std::string>;

Texts texts_at(const Node& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return {};
  const auto* texts = std::get_if<Texts>(&found->second);
  return texts == nullptr ? Texts() : *texts;
}

/// Whole numbers as texts, of a list or a tensor.
Texts numbers_at(const Node& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return {};
  Texts result;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second)) {
    for (const std::int64_t number : *list) result.push_back(std::to_string(number));
  }
  if (const auto* tensor = std::get_if<Tensor>(&found->second);
      tensor != nullptr && tensor->dtype() == DType::i64) {
    for (const std::int64_t number : tensor->as<std::int64_t>()) {
      result.push_back(std::to_string(number));
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> labels_of(const Node& node, std::size_t output) {
  const std::string prefix = std::string(kMlDomain) + ".";
  if (!node.op.starts_with(prefix)) return {};
  const std::string op = node.op.substr(prefix.size());
  if (op == "LabelEncoder") return texts_at(node, "values_strings");
  if (!op.ends_with("Classifier") && op != "ZipMap") return {};
  const Texts texts = texts_at(node, "classlabels_strings");
  const bool is_label = output == 0 && op != "ZipMap";
  if (!texts.empty() || is_label) return texts;
  const Texts numbers = numbers_at(node, "classlabels_int64s");
  return numbers.empty() ? numbers_at(node, "classlabels_ints") : numbers;
}

Tensor places_of_texts(const Shape& shape) {
  Tensor places = Tensor::allocate(DType::i64, shape);
  for (std::int64_t i = 0; i < places.size(); ++i) places.set(i, static_cast<double>(i));
  return places;
}

void label_texts(Graph& graph, const TextConstants& texts, const std::string& where) {
  if (texts.empty()) return;
  // Tensors whose numbers stand for texts, and the constant that these are of.
  std::map<TensorId, TensorId> holders;
  for (const TensorId id : graph.tensors.ids()) {
    const GraphTensor& tensor = graph.tensors[id];
    const bool is_constant = tensor.kind == GraphTensor::Kind::constant;
    if (is_constant && texts.contains(tensor.name)) holders[id] = id;
  }
  const auto refuse = [&](TensorId constant) {
    throw UnsupportedError(where + ": initializer " + in_quotes(graph.tensor(constant).name) +
                           ": tensors of strings are not supported, but as classes that a label is "
                           "looked up in; encode the text as numbers before");
  };
  for (const Node& node : graph.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto held = holders.find(node.inputs[i]);
      if (held == holders.end()) continue;
      const TensorId constant = held->second;
      const bool looks_up =
          node.op == "ai.onnx.ml.ArrayFeatureExtractor" && held->first == constant;
      const bool only_names = node.op == "Reshape" || node.op == "Identity" ||
                              node.op == "Squeeze" || node.op == "Unsqueeze" ||
                              node.op == "Flatten";
      if (i != 0 || !(looks_up || (only_names && held->first != constant))) refuse(constant);
      holders[node.outputs.front()] = constant;
    }
  }
  for (const TensorId id : graph.outputs) {
    const auto held = holders.find(id);
    if (held == holders.end()) continue;
    if (held->second == id) refuse(id);
    graph.tensor(id).labels = texts.at(graph.tensor(held->second).name);
  }
}

}  // namespace morton::formats
