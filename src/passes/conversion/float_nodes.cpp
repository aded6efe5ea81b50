// SPDX-License-Identifier: Apache-2.0
#include "passes/conversion/float_nodes.hpp"

#include <algorithm>

#include "ops/core/operator.hpp"
#include "passes/conversion/half_operators.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

bool is_one_of(const std::string& op, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, op) != names.end();
}

/// Decides node by node. What shapes are made of, and the layers of codes, stay as they are:
/// rounded sizes would be others, and engines know a layer by its codes' neighbours.
class HalfChooser {
 public:
  HalfChooser(const Graph& graph, const ElementTypes& types, const HalvesOptions& options)
      : graph_(graph),
        types_(types),
        options_(options),
        of_shapes_(graph.tensors.size()),
        to_codes_(graph.tensors.size()),
        from_codes_(graph.tensors.size()),
        of_numbers_(graph.tensors.size()),
        to_numbers_(graph.tensors.size()),
        lists_(lists_of(graph)) {
    for (const TensorId id : graph.inputs) of_numbers_[id] = is_f32(id);
    for (const Node& node : graph.nodes) mark(node);
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) mark_back(*node);
  }

  [[nodiscard]] HalfChoice choice(const Node& node) const {
    const bool reads = std::ranges::any_of(node.inputs, [&](TensorId id) { return is_f32(id); });
    const bool writes = std::ranges::any_of(node.outputs, [&](TensorId id) { return is_f32(id); });
    const bool has_bodies = !node.bodies.empty();
    const Operator* op = find_operator(node.op);
    const bool reads_values = reads && (op == nullptr || !op->inputs.shapes_only);
    if (!reads_values && !writes && !has_bodies) return {};
    std::string why = why_float(node);
    if (why.empty()) return {HalfChoice::Kind::halves};
    return {HalfChoice::Kind::floats, std::move(why)};
  }

 private:
  [[nodiscard]] bool is_f32(TensorId id) const {
    return id != kNoTensor && types_[id] == DType::f32;
  }

  [[nodiscard]] bool is_constant(TensorId id) const {
    return id == kNoTensor || graph_.tensor(id).kind == GraphTensor::Kind::constant;
  }

  /// Nodes come in order, so what they read is marked.
  void mark(const Node& node) {
    const bool has_shape =
        is_one_of(node.op, {"Shape", "Size"}) || std::ranges::any_of(node.inputs, [&](TensorId id) {
          return id != kNoTensor && of_shapes_[id];
        });
    const bool all_known = std::ranges::all_of(node.inputs, [&](TensorId id) {
      return is_constant(id) || of_shapes_[id] || is_one_of(node.op, {"Shape", "Size"});
    });
    for (const TensorId id : node.outputs) {
      if (id == kNoTensor) continue;
      // The elements of a constant's repetition are no sizes.
      const bool repeats = node.op == "ConstantOfShape" && is_f32(id);
      of_shapes_[id] = has_shape && all_known && !repeats;
      of_numbers_[id] = is_f32(id) && carries_numbers(node);
      from_codes_[id] = is_one_of(node.op, {"DequantizeLinear", "com.microsoft.DequantizeLinear"});
    }
    if (is_one_of(node.op, {"QuantizeLinear", "com.microsoft.QuantizeLinear"})) {
      to_codes_[node.inputs[0]] = true;
    }
  }

  [[nodiscard]] bool is_whole(TensorId id) const {
    constexpr DType kWhole[]{DType::i64, DType::i32, DType::i16, DType::i8,
                             DType::u64, DType::u32, DType::u16, DType::u8};
    return id != kNoTensor && types_[id] &&
           std::ranges::find(kWhole, *types_[id]) != std::end(kWhole);
  }

  /// What moves elements, or computes each by itself.
  static bool keeps_elements(const Node& node) {
    const Operator* op = find_operator(node.op);
    return (op != nullptr && op->chain != nullptr) ||
           is_one_of(node.op, {"Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape",
                               "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"});
  }

  /// Numbers of elements, such as indices, that are f32 for a while: from whole numbers or an input
  /// on, element by element.
  [[nodiscard]] bool carries_numbers(const Node& node) const {
    if (node.op == "Cast" && is_whole(node.inputs[0])) return true;
    bool any = false;
    for (const TensorId id : node.inputs) {
      if (!is_f32(id) || is_constant(id)) continue;
      if (!of_numbers_[id]) return false;
      any = true;
    }
    return any && keeps_elements(node);
  }

  /// Nodes come last to first, so what reads their results is marked.
  void mark_back(const Node& node) {
    const bool makes_whole = node.op == "Cast" && is_whole(node.outputs[0]);
    if (!makes_whole && !is_on_the_way_to_numbers(node)) return;
    for (const TensorId id : node.inputs) {
      if (is_f32(id) && of_numbers_[id]) to_numbers_[id] = true;
    }
  }

  [[nodiscard]] bool is_on_the_way_to_numbers(const Node& node) const {
    return std::ranges::any_of(node.outputs,
                               [&](TensorId id) { return id != kNoTensor && to_numbers_[id]; });
  }

  [[nodiscard]] bool computes_numbers(const Node& node) const {
    if (is_on_the_way_to_numbers(node)) return true;
    return node.op == "Cast" && is_whole(node.outputs[0]) && to_numbers_[node.inputs[0]];
  }

  /// Or gives one.
  [[nodiscard]] bool reads_list(const Node& node) const {
    const auto is_list = [&](TensorId id) { return id != kNoTensor && lists_[id]; };
    return std::ranges::any_of(node.inputs, is_list) || std::ranges::any_of(node.outputs, is_list);
  }

  [[nodiscard]] bool makes_shapes(const Node& node) const {
    return std::ranges::any_of(node.outputs,
                               [&](TensorId id) { return id != kNoTensor && of_shapes_[id]; });
  }

  [[nodiscard]] bool is_beside_codes(const Node& node) const {
    return std::ranges::any_of(node.inputs,
                               [&](TensorId id) { return id != kNoTensor && from_codes_[id]; }) ||
           std::ranges::any_of(node.outputs,
                               [&](TensorId id) { return id != kNoTensor && to_codes_[id]; });
  }

  [[nodiscard]] std::string why_float(const Node& node) const {
    if (options_.in_float.contains(node.name)) return "named";
    if (!node.bodies.empty()) return "control flow";
    if (makes_shapes(node)) return "computes shapes";
    if (computes_numbers(node)) return "whole numbers as f32";
    if (is_beside_codes(node)) return "a layer of codes";
    if (reads_list(node)) return "lists of tensors";
    if (node.op.starts_with("Scatter") && text_of(node, "reduction", "none") != "none") {
      return "sums in place";
    }
    const auto halves = half_operator(node.op);
    const std::string type(name_of(options_.type));
    if (!halves || halves->since(options_.type) == 0) return "no form of " + type;
    const std::int64_t opset = node.opset == 0 ? graph_.opset : node.opset;
    if (opset < halves->since(options_.type)) {
      return type + " from opset " + std::to_string(halves->since(options_.type)) + " on";
    }
    // Whole numbers would be rounded on their way to an output of f32.
    const bool keeps = options_.ports == HalvesOptions::Ports::keep;
    if (keeps && node.op == "Cast" && graph_.is_result(node.outputs[0])) return "makes an output";
    // LayerNormalization's mean and deviation are f32 in any case.
    if (node.op == "LayerNormalization" && node.outputs.size() > 1) return "further results of f32";
    const bool knows_all = std::ranges::all_of(
        node.inputs, [&](TensorId id) { return id == kNoTensor || types_[id].has_value(); });
    return knows_all ? "" : "an operand of unknown type";
  }

  const Graph& graph_;
  const ElementTypes& types_;
  const HalvesOptions& options_;
  Indexed<TensorId, bool> of_shapes_;   ///< made of shapes and constants alone
  Indexed<TensorId, bool> to_codes_;    ///< what QuantizeLinear reads
  Indexed<TensorId, bool> from_codes_;  ///< what DequantizeLinear makes
  Indexed<TensorId, bool> of_numbers_;  ///< f32 that follows from whole numbers or inputs
  Indexed<TensorId, bool> to_numbers_;  ///< and of which whole numbers are made again
  Indexed<TensorId, bool> lists_;
};

}  // namespace

std::vector<HalfChoice> choose_halves(const Graph& graph, const ElementTypes& types,
                                      const HalvesOptions& options) {
  const HalfChooser chooser(graph, types, options);
  std::vector<HalfChoice> choices;
  for (const Node& node : graph.nodes) choices.push_back(chooser.choice(node));
  return choices;
}

}  // namespace morton::passes
