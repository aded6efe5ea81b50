// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_labels.hpp"

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

}  // namespace morton::formats
