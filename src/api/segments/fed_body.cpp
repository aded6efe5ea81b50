// SPDX-License-Identifier: Apache-2.0
#include "api/segments/fed_body.hpp"

#include <algorithm>
#include <set>

#include "api/compile/model_at_shapes.hpp"
#include "api/inside.hpp"
#include "base/error.hpp"
#include "ops/core/planned.hpp"
#include "passes/rewrite.hpp"

namespace morton::api {
namespace {

bool is_read(const Graph& graph, TensorId id) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    return std::ranges::find(node.inputs, id) != node.inputs.end();
  });
}

/// Rewrites a body so that each of its results is computed, once, under a name of its own.
class FeedingBody {
 public:
  FeedingBody(const LoopParts& parts, Graph graph) : parts_(parts) {
    fed_.graph = std::move(graph);
    outputs_ = fed_.graph.outputs;
    fed_.graph.outputs.clear();
  }

  FedBody made() {
    take_states();
    // Before the next two, which leave away what nothing reads.
    for (std::size_t i = 1 + parts_.states; i < outputs_.size(); ++i) {
      fed_.stacked.push_back(name(add_output(outputs_[i])));
    }
    take_condition();
    take_turn();
    return std::move(fed_);
  }

 private:
  Graph& graph() { return fed_.graph; }
  /// A copy: tensors that are added move the others.
  [[nodiscard]] std::string name(TensorId id) const { return fed_.graph.tensor(id).name; }

  TensorId add_node(const char* op, std::vector<TensorId> inputs, const std::string& wish) {
    GraphTensor made;
    made.name = unused_tensor_name(graph(), wish);
    const TensorId id = graph().add_tensor(std::move(made));
    Node& node = graph().nodes.emplace_back();
    node.op = op;
    node.name = name(id);
    node.inputs = std::move(inputs);
    node.outputs = {id};
    node.opset = graph::kNewestOpset;
    return id;
  }

  /// An output that is this tensor, and no other is.
  TensorId add_output(TensorId id) {
    const bool is_own = graph().tensor(id).kind == GraphTensor::Kind::activation &&
                        std::ranges::count(outputs_, id) == 1;
    const TensorId output = is_own ? id : add_node("Identity", {id}, name(id) + ".result");
    graph().outputs.push_back(output);
    return output;
  }

  void take_states() {
    for (std::size_t s = 0; s < parts_.states; ++s) {
      const TensorId in = graph().inputs[2 + s];
      fed_.states.push_back(name(in));
      fed_.is_fed.push_back(outputs_[1 + s] != in);
      if (fed_.is_fed.back()) fed_.feeds[name(add_output(outputs_[1 + s]))] = name(in);
    }
  }

  /// What the tensor is another name of.
  TensorId renamed_by(TensorId id) {
    for (auto node = graph().nodes.rbegin(); node != graph().nodes.rend(); ++node) {
      if (node->op == "Identity" && node->outputs[0] == id) id = node->inputs[0];
    }
    return id;
  }

  void take_condition() {
    const TensorId in = graph().inputs[1];
    const TensorId id = renamed_by(outputs_[0]);
    const GraphTensor& tensor = graph().tensor(id);
    const bool is_known = tensor.kind == GraphTensor::Kind::constant && tensor.data.size() == 1;
    if (is_known && tensor.data.at(0) == 0.0) fed_.goes_on = GoesOn::never;
    if (!is_known && id != in) fed_.goes_on = GoesOn::as_data_say;
    if (fed_.goes_on == GoesOn::as_data_say) {
      fed_.condition = name(add_output(outputs_[0]));
      if (is_read(graph(), in)) {
        fed_.condition_is_state = true;
        fed_.feeds[fed_.condition] = name(in);
        fed_.condition = name(in);
      }
    }
    if (!is_read(graph(), in)) std::erase(graph().inputs, in);
  }

  void take_turn() {
    const TensorId in = turn_input_;
    if (!is_read(graph(), in)) {
      std::erase(graph().inputs, in);
      return;
    }
    const std::int64_t one = 1;
    const TensorId step = graph().add_tensor(
        graph::constant_tensor(unused_tensor_name(graph(), name(in) + ".step"),
                               Tensor::from({}, std::span<const std::int64_t>(&one, 1))));
    const TensorId next = add_node("Add", {in, step}, name(in) + ".next");
    graph().outputs.push_back(next);
    fed_.turn = name(in);
    fed_.feeds[name(next)] = fed_.turn;
  }

  const LoopParts& parts_;
  FedBody fed_;
  std::vector<TensorId> outputs_;  ///< of the body
  TensorId turn_input_ = parts_.body.inputs[0];
};

/// The graph's results once its passes have run, or nothing where they follow from a run.
std::optional<std::vector<TensorType>> results_of(const Graph& graph, const Values& given,
                                                  const SegmentContext& context) {
  try {
    const CompileOptions options = options_for(context, graph, given);
    const ModelAtShapes subject(Inside::make(graph, context.loading), pass_options_of(options));
    const Graph& bound = subject.graph();
    if (!bound.counts.empty()) return {};
    std::vector<TensorType> types;
    for (const TensorId id : graph.outputs) {
      const GraphTensor& tensor = bound.tensor(bound.find(graph.tensor(id).name));
      const bool is_constant = tensor.kind == GraphTensor::Kind::constant;
      types.push_back({tensor.dtype, is_constant ? tensor.data.shape() : tensor.shape});
    }
    return types;
  } catch (const NeedsSegments&) {
    return {};
  }
}

}  // namespace

std::optional<std::vector<TensorType>> body_results(const Graph& body, const Values& given,
                                                    const SegmentContext& context) {
  return results_of(declared_as(body, given, Extents::fixed), given, context);
}

std::optional<FedBody> fed_body(const LoopParts& parts, const Values& given,
                                const SegmentContext& context) {
  FedBody fed = FeedingBody(parts, declared_as(parts.body, given, Extents::fixed)).made();
  std::set<std::string> changing;
  for (const auto& [output, input] : fed.feeds) changing.insert(input);
  for (const TensorId id : planned_graph_inputs(fed.graph)) {
    if (changing.contains(fed.graph.tensor(id).name)) return {};
  }
  const auto types = results_of(fed.graph, given, context);
  if (!types) return {};
  for (std::size_t i = 0; i < types->size(); ++i) {
    const auto feed = fed.feeds.find(fed.graph.tensor(fed.graph.outputs[i]).name);
    if (feed == fed.feeds.end()) continue;
    const Tensor& state = given.at(feed->second);
    const bool is_alike = (*types)[i].dtype == state.dtype() && (*types)[i].shape == state.shape();
    if (!is_alike || state.size() == 0) return {};
  }
  return fed;
}

}  // namespace morton::api
