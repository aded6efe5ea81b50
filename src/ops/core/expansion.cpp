// SPDX-License-Identifier: Apache-2.0
#include "ops/core/expansion.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"

namespace morton::ops {
namespace {

/// A node in a graph of its own, with what planning knows of its operands.
struct Alone {
  Graph graph;
  Node node;
};

Alone alone(const NodeView& view) {
  Alone result;
  result.node = view.node();
  result.node.epilogue = Chain{};
  result.node.inputs.clear();
  result.graph.opset = view.opset();
  std::map<TensorId, TensorId> own;
  for (std::size_t i = 0; i < view.input_count(); ++i) {
    if (!view.has_input(i)) {
      result.node.inputs.push_back(kNoTensor);
      continue;
    }
    const TensorId id = view.input_id(i);
    if (!own.contains(id)) {
      GraphTensor tensor = view.tensor(i);
      if (tensor.planned() == nullptr) tensor.kind = GraphTensor::Kind::input;
      own.emplace(id, result.graph.add_tensor(std::move(tensor)));
    }
    result.node.inputs.push_back(own.at(id));
  }
  for (std::size_t i = 0; i < result.node.outputs.size(); ++i) {
    TensorId& id = result.node.outputs[i];
    if (id != kNoTensor) id = result.graph.add_tensor({.name = "output " + std::to_string(i)});
  }
  return result;
}

ReferenceTensor value_of(const Graph& graph, std::map<TensorId, ReferenceTensor>& known,
                         TensorId id) {
  if (id == kNoTensor) return {};
  const auto found = known.find(id);
  if (found != known.end()) return found->second;
  return known[id] = to_reference(graph.tensor(id).data);
}

void compute(const Graph& graph, const Node& node, std::map<TensorId, ReferenceTensor>& known) {
  std::vector<ReferenceTensor> inputs;
  for (const TensorId id : node.inputs) inputs.push_back(value_of(graph, known, id));
  std::vector<ReferenceTensor> results = references(graph, node, inputs);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoTensor) known[node.outputs[i]] = std::move(results.at(i));
  }
}

bool holds(const std::vector<DType>& types, DType type) {
  return std::ranges::find(types, type) != types.end();
}

/// Whether a device computes the node in f32 alone, and one of its operands is of 16 bits.
bool needs_f32(const NodeView& node, const Operator& op) {
  const bool is_computed = op.lower != nullptr || op.parts != nullptr;
  if (!is_computed || !holds(op.types, DType::f32)) return false;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (node.has_input(i) && is_short_real(node.input(i).dtype) &&
        !holds(op.types, node.input(i).dtype)) {
      return true;
    }
  }
  return false;
}

/// The node between conversions to f32 and back.
std::vector<TensorId> expand_through_f32(Expansion& out) {
  const NodeView& view = out.node();
  const Node& node = view.node();
  const std::vector<TensorType> types = infer(out.graph(), node);
  std::vector<TensorId> inputs;
  for (std::size_t i = 0; i < view.input_count(); ++i) {
    const TensorId id = out.input(i);
    const bool is_short = id != kNoTensor && is_short_real(out.type_of(id));
    inputs.push_back(is_short ? out.converted(id, DType::f32) : id);
  }
  std::vector<TensorId> results =
      out.add_several(node.op, inputs, node.outputs.size(), node.attributes);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!out.has_output(i)) {
      results[i] = kNoTensor;
    } else {
      results[i] = out.converted(results[i], types[i].dtype);
    }
  }
  return results;
}

}  // namespace

Operator foreign_operator(std::string_view name, Operator::Inputs inputs,
                          std::vector<std::string_view> attributes,
                          std::vector<TensorId> (*expand)(Expansion& expansion)) {
  return {.name = name,
          .inputs = std::move(inputs),
          .attributes = std::move(attributes),
          .since_opset = 1,
          .expand = expand,
          .home = Operator::Home::other};
}

bool computes_with_nothing(const Expansion& expansion) {
  const NodeView& node = expansion.node();
  const std::vector<std::size_t>& planned = operator_of(node.node()).inputs.planned;
  bool reads_nothing = false;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const bool is_planned = std::ranges::find(planned, i) != planned.end();
    const bool is_read = !is_planned && node.has_input(i);
    reads_nothing = reads_nothing || (is_read && element_count(node.input(i).shape) == 0);
  }
  return reads_nothing && element_count(infer(expansion.graph(), node.node())[0].shape) > 0;
}

bool is_short_real(DType type) { return type == DType::f16 || type == DType::bf16; }

Expansion::Expansion(Graph& graph, const Node& node)
    : GraphWriter(graph, node.name), copy_(node), view_(graph, copy_) {}

TensorId Expansion::input(std::size_t i) const {
  return view_.has_input(i) ? view_.input_id(i) : kNoTensor;
}

bool Expansion::has_output(std::size_t i) const {
  return copy_.outputs.empty() || (i < copy_.outputs.size() && copy_.outputs[i] != kNoTensor);
}

std::vector<TensorId> expand(Graph& graph, const Node& node) {
  const Operator& op = operator_of(node);
  const bool through_f32 = needs_f32(NodeView(graph, node), op);
  if (op.expand == nullptr && !through_f32) return {};
  Expansion expansion(graph, node);
  std::vector<TensorId> outputs;
  if (op.expand != nullptr) {
    for (const std::size_t i : op.inputs.planned) {
      if (expansion.node().has_input(i)) (void)expansion.node().value(i);
    }
    outputs = op.expand(expansion);
  }
  return outputs.empty() && through_f32 ? expand_through_f32(expansion) : outputs;
}

std::vector<TensorType> infer_composed(const NodeView& node) {
  const Operator& op = operator_of(node.node());
  // Here, where the model's inputs are known, a value that is missing is named by them.
  for (const std::size_t i : op.inputs.planned) {
    if (node.has_input(i)) (void)node.value(i);
  }
  Alone part = alone(node);
  std::vector<TensorType> types;
  for (const TensorId id : expand(part.graph, part.node)) {
    if (id == kNoTensor) {
      types.push_back({});
      continue;
    }
    const GraphTensor& tensor = part.graph.tensor(id);
    types.push_back({tensor.dtype, tensor.shape});
  }
  return types;
}

std::vector<ReferenceTensor> reference_composed(const NodeView& node,
                                                std::span<const ReferenceTensor> inputs) {
  Alone part = alone(node);
  const std::vector<TensorId> outputs = expand(part.graph, part.node);
  std::map<TensorId, ReferenceTensor> known;
  for (std::size_t i = 0; i < part.node.inputs.size(); ++i) {
    const TensorId id = part.node.inputs[i];
    if (id != kNoTensor) known[id] = inputs[i];
  }
  for (const Node& step : part.graph.nodes) compute(part.graph, step, known);
  std::vector<ReferenceTensor> results;
  for (const TensorId id : outputs) results.push_back(value_of(part.graph, known, id));
  return results;
}

}  // namespace morton::ops
