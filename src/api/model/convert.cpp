// SPDX-License-Identifier: Apache-2.0
#include "morton/convert.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/numbers/onnx_numbers.hpp"
#include "graph/parameter_bytes.hpp"
#include "ops/core/operator.hpp"
#include "passes/conversion/conversion.hpp"
#include "passes/passes.hpp"

namespace morton {
using namespace api;
namespace {

constexpr std::int64_t kAnyExtent = 8;  // for extents that stay open

/// Older ones name the type of a Cast by a text, and broadcast otherwise.
constexpr std::int64_t kLeastOpsetOfHalves = 7;

std::int64_t count_nodes(const Graph& graph) {
  auto count = static_cast<std::int64_t>(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    for (const auto& [name, body] : node.bodies) count += count_nodes(*body.graph);
  }
  return count;
}

void find_unknown(const Graph& graph, std::string& list) {
  for (const Node& node : graph.nodes) {
    for (const auto& [name, body] : node.bodies) find_unknown(*body.graph, list);
    const auto to = node.attributes.find("to");
    const bool is_of_texts = node.op == "Cast" && to != node.attributes.end() &&
                             std::holds_alternative<std::int64_t>(to->second) &&
                             !type_of_onnx(std::get<std::int64_t>(to->second));
    if (find_operator(node.op) != nullptr && !is_of_texts) continue;
    list += (list.empty() ? "'" : ", '") + node.name + "' (" + node.op + ")";
  }
}

/// What a node of it means cannot be written.
void require_known(const Graph& graph) {
  std::string list;
  find_unknown(graph, list);
  if (list.empty()) return;
  throw UnsupportedError(
      "conversion: Morton does not know the operators or types of these nodes: " + list);
}

void check(const Graph& graph, const ConvertOptions& options) {
  if (options.precision && *options.precision != DType::f16 && *options.precision != DType::bf16) {
    throw UsageError(setting("precision", std::string(name_of(*options.precision))) +
                     ": a model is converted to f16 or bf16");
  }
  if (!options.precision && options.ports == ConvertOptions::Ports::convert) {
    throw UsageError(setting("ports", "convert") + ": goes with " + setting("precision"));
  }
  if (!options.precision && !options.in_float.empty()) {
    throw UsageError(setting("in_float") + ": goes with " + setting("precision"));
  }
  const std::int64_t opset = options.opset.value_or(graph.opset);
  if (options.precision && opset < kLeastOpsetOfHalves) {
    throw UsageError(setting("precision", std::string(name_of(*options.precision))) + ": needs " +
                     setting("opset", std::to_string(kLeastOpsetOfHalves)) +
                     " or later; the model is of opset " + std::to_string(graph.opset));
  }
  if (!options.opset) return;
  const Message given = setting("opset", std::to_string(*options.opset));
  if (*options.opset > graph::kNewestOpset) {
    throw UsageError(given + ": the newest that is written is " +
                     std::to_string(graph::kNewestOpset));
  }
  if (*options.opset >= graph.opset) return;
  throw UsageError(given + ": the model is of opset " + std::to_string(graph.opset) +
                   ", and opsets are only raised");
}

void require_nodes(const Graph& graph, const std::set<std::string>& names) {
  std::set<std::string> unknown = names;
  for (const Node& node : graph.nodes) unknown.erase(node.name);
  if (unknown.empty()) return;
  throw UsageError(setting("in_float", *unknown.begin()) + ": the model has no node of that name");
}

bool has_open_extents(const Graph& graph) {
  return std::ranges::any_of(graph.inputs, [&](TensorId id) {
    const GraphTensor& input = graph.tensor(id);
    return !input.form.is_tensor() || std::ranges::any_of(input.declared, [](const Dimension& d) {
      return !d.symbol.empty();
    });
  });
}

/// The graph with all shapes inferred; nothing, and why, where that cannot be.
struct InferredGraph {
  std::optional<Graph> graph;
  std::string why_not;
};

InferredGraph inferred(Graph graph, bool is_open, std::int64_t open_extent = kAnyExtent) {
  PassOptions options;
  for (const TensorId id : graph.inputs) {
    if (!is_open || !graph.tensor(id).form.is_tensor()) continue;
    Shape& shape = options.shapes[graph.tensor(id).name];
    for (const Dimension& d : graph.tensor(id).declared) {
      shape.push_back(d.symbol.empty() ? d.value : open_extent);
    }
  }
  try {
    bind_shapes(graph, options);
    infer_shapes(graph, options);
  } catch (const Error& error) {
    return {{}, error.what()};
  }
  return {std::move(graph), ""};
}

class Converter {
 public:
  Converter(const Model& model, const ConvertOptions& options)
      : options_(options), before_(Inside::of(model)), graph_(before_) {
    check(graph_, options);
    require_nodes(graph_, options.in_float);
    require_known(graph_);
  }

  ConvertedModel run() {
    fix_shapes();
    if (options_.constants == ConvertOptions::Constants::fold) fold();
    raise_to_opset();
    std::vector<FloatNode> in_float;
    if (options_.precision) in_float = halve();
    keep_facts();
    verify(graph_, "conversion");
    ConvertedModel result{Inside::make(graph_), std::move(in_float)};
    result.nodes_before = count_nodes(before_);
    result.nodes_after = count_nodes(graph_);
    result.parameter_bytes_before = graph::parameter_bytes(before_);
    result.parameter_bytes_after = graph::parameter_bytes(graph_);
    result.notes = std::move(notes_);
    return result;
  }

 private:
  void fix_shapes() {
    PassOptions options;
    options.batch = options_.batch;
    options.shapes = options_.shapes;
    for (Message& note : fix_extents(graph_, options)) notes_.push_back(std::move(note));
    is_open_ = has_open_extents(graph_);
    InferredGraph found = inferred(graph_, is_open_);
    if (found.graph) {
      for (const GraphTensor& tensor : found.graph->tensors) shapes_[tensor.name] = tensor.shape;
      if (is_open_) {
        forget_open_extents(inferred(graph_, is_open_, 2 * kAnyExtent));
      } else {
        declare_outputs(*found.graph);
        take_planned_values(*found.graph);
      }
    } else if (!is_open_ && options_.constants == ConvertOptions::Constants::fold) {
      notes_.push_back("what follows from shapes is not folded: " + found.why_not);
    }
  }

  /// Extents that follow from open ones differ there.
  void forget_open_extents(const InferredGraph& other) {
    if (!other.graph) return shapes_.clear();
    for (const GraphTensor& tensor : other.graph->tensors) {
      Shape& shape = shapes_[tensor.name];
      for (std::size_t i = 0; i < std::min(shape.size(), tensor.shape.size()); ++i) {
        if (shape[i] != tensor.shape[i]) shape[i] = -1;
      }
    }
  }

  /// Outputs whose extents all follow from the inputs'.
  void declare_outputs(const Graph& known) {
    std::map<TensorId, std::size_t> late;
    for (const OutputCount& count : known.counts) late[count.output] = count.dimension;
    for (std::size_t i = 0; i < std::min(graph_.outputs.size(), known.outputs.size()); ++i) {
      GraphTensor& output = graph_.tensor(graph_.outputs[i]);
      const GraphTensor& same = known.tensor(known.outputs[i]);
      if (same.name != output.name || late.contains(known.outputs[i])) continue;
      if (output.kind == GraphTensor::Kind::input || !output.form.is_tensor()) continue;
      output.declared.clear();
      output.form.any_shape = false;
      for (const std::int64_t extent : same.shape) output.declared.push_back({extent, ""});
      output.shape = same.shape;
    }
  }

  /// Shape arithmetic, which was computed while shapes were inferred.
  void take_planned_values(const Graph& known) {
    if (options_.constants != ConvertOptions::Constants::fold) return;
    std::map<std::string_view, const GraphTensor*> values;
    for (const GraphTensor& tensor : known.tensors) {
      if (tensor.kind == GraphTensor::Kind::constant) values[tensor.name] = &tensor;
    }
    for (Node& node : std::exchange(graph_.nodes, {})) {
      const bool is_one = node.outputs.size() == 1 && node.outputs[0] != kNoTensor &&
                          node.bodies.empty() && !graph_.is_result(node.outputs[0]);
      const auto found = is_one ? values.find(graph_.tensor(node.outputs[0]).name) : values.end();
      if (found == values.end()) {
        graph_.nodes.push_back(std::move(node));
      } else {
        graph_.tensor(node.outputs[0]) =
            graph::constant_tensor(found->second->name, found->second->data);
      }
    }
  }

  void fold() {
    fold_known(graph_);
    fold_batch_norms(graph_, {});
    for (Node& node : graph_.nodes) node.fused.clear();
    drop_unused(graph_);
  }

  void raise_to_opset() {
    std::int64_t opset = graph_.opset;
    for (const Node& node : graph_.nodes) opset = std::max(opset, node.opset);
    raise_opset(graph_, options_.opset.value_or(opset), shapes_);
    if (options_.constants == ConvertOptions::Constants::fold) drop_unused(graph_);
  }

  std::vector<FloatNode> halve() {
    HalvesOptions options;
    options.type = *options_.precision;
    options.in_float = options_.in_float;
    if (options_.ports == ConvertOptions::Ports::convert) {
      options.ports = HalvesOptions::Ports::convert;
    }
    passes::HalvesReport report = make_halves(graph_, options);
    if (report.half_nodes == 0) {
      std::string first;
      for (const passes::KeptNode& node : report.in_float) {
        if (first.empty())
          first = "; the first, '" + node.node + "' (" + node.op + "): " + node.why;
      }
      throw UnsupportedError(setting("precision", std::string(name_of(options.type))) +
                             ": no node of the model can compute with it" + first);
    }
    drop_unused(graph_);
    for (Message& note : report.notes) notes_.push_back(std::move(note));
    std::vector<FloatNode> in_float;
    for (passes::KeptNode& node : report.in_float) {
      in_float.push_back({std::move(node.node), std::move(node.op), std::move(node.why)});
    }
    return in_float;
  }

  /// Constants that are listed as inputs stay so as far as they are what they were.
  void keep_facts() {
    std::map<std::string_view, const std::byte*> before, after;
    for (const GraphTensor& tensor : before_.tensors) before[tensor.name] = tensor.data.stored();
    for (const GraphTensor& tensor : graph_.tensors) after[tensor.name] = tensor.data.stored();
    const auto removed = std::erase_if(graph_.facts.replaceable, [&](const std::string& name) {
      return !after.contains(name) || after.at(name) != before.at(name);
    });
    if (removed > 0) {
      notes_.push_back(std::to_string(removed) +
                       " constants that were listed as inputs, for callers to replace, are so no "
                       "more");
    }
    for (const std::string& what : graph_.facts.left_out) {
      notes_.push_back("the file that is written is without " + what);
    }
  }

  const ConvertOptions& options_;
  const Graph& before_;
  Graph graph_;
  bool is_open_ = false;
  passes::KnownShapes shapes_{};
  std::vector<Message> notes_{};
};

}  // namespace

ConvertedModel convert(const Model& model, const ConvertOptions& options) {
  return Converter(model, options).run();
}

}  // namespace morton
