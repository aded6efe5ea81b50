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
        lists_(lists_of(graph)) {
    for (const Node& node : graph.nodes) mark(node);
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
      of_shapes_[id] = has_shape && all_known;
      from_codes_[id] = is_one_of(node.op, {"DequantizeLinear", "com.microsoft.DequantizeLinear"});
    }
    if (is_one_of(node.op, {"QuantizeLinear", "com.microsoft.QuantizeLinear"})) {
      to_codes_[node.inputs[0]] = true;
    }
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
