// SPDX-License-Identifier: Apache-2.0
#include "passes/shapes/late_extents.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.hpp"
#include "ops/core/operator.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

const LateRule* find(std::span<const LateRule> rules, std::string_view op) {
  const auto found = std::ranges::find(rules, op, &LateRule::op);
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace

LateExtents::LateExtents(Graph& graph, Splicing& out, std::vector<Growing> growing)
    : table_(graph, out), growing_(std::move(growing)) {
  std::map<std::pair<std::int64_t, std::int64_t>, TensorId> states;  // by capacity and step
  for (const auto& [input, output, dimension, step] : growing_) {
    const GraphTensor& tensor = graph.tensor(input);
    const std::int64_t capacity = tensor.shape[dimension];
    LateCounts counts(tensor.shape.size(), kNoTensor);
    TensorId& state = states[{capacity, step}];
    if (state == kNoTensor) {
      GraphTensor count{.name = unused_tensor_name(graph, tensor.name + ".count"),
                        .dtype = DType::i64,
                        .kind = GraphTensor::Kind::state};
      count.shape = {1};
      count.data = Tensor::allocate(DType::i64, {1});
      graph.growths.push_back({count.name, capacity, step, {}});
      state = graph.add_tensor(std::move(count));
      table_.define_growing(state, capacity, step);
    }
    const auto growth = std::ranges::find(graph.growths, graph.tensor(state).name, &Growth::state);
    growth->inputs.push_back({graph.tensor(input).name, dimension});
    counts[dimension] = state;
    table_.define(input, std::move(counts));
  }
}

void LateExtents::renew_counts() {
  Graph& graph = table_.graph();
  std::set<TensorId> renewed;
  for (const auto& [input, output, dimension, step] : growing_) {
    const TensorId state = table_.count(input, dimension);
    const TensorId count = table_.count(output, dimension);
    const auto numbers = table_.values().numbers(count);
    const std::int64_t capacity = graph.tensor(input).shape[dimension];
    const bool grows = numbers && numbers->size() == 1 && numbers->front().low == step &&
                       numbers->front().high == capacity + step;
    if (!grows) {
      throw UnsupportedError(setting("feeds") + ": output '" + graph.tensor(output).name +
                             "' is not input '" + graph.tensor(input).name + "' and " +
                             std::to_string(step) + " more along dimension " +
                             std::to_string(dimension));
    }
    if (renewed.insert(state).second) graph.updates.push_back({state, count});
  }
}

std::ptrdiff_t LateExtents::write_out(std::size_t n) {
  Graph& graph = table_.graph();
  const auto late = [&](TensorId id) {
    return id != kNoTensor && (table_.is_late(id) || table_.values().is_late(id));
  };
  const LateRule* rule = find(late_sources(), graph.nodes[n].op);
  if (rule == nullptr) {
    if (table_.is_empty() || std::ranges::none_of(graph.nodes[n].inputs, late)) return -1;
    // Whoever wrote the node has stated what its results are.
    if (std::ranges::any_of(graph.nodes[n].outputs, [&](TensorId id) {
          return id != kNoTensor && table_.is_defined(id);
        })) {
      return -1;
    }
    for (const auto rules : {late_shapes(), late_places(), late_joins()}) {
      if (rule == nullptr) rule = find(rules, graph.nodes[n].op);
    }
    if (rule == nullptr) {
      require_known(graph.nodes[n]);
      return -1;
    }
  }
  const Node node = graph.nodes[n];
  check_supported(graph, node);
  table_.out().begin(node);
  if (!rule->write(table_, node)) return -1;
  return static_cast<std::ptrdiff_t>(table_.out().put_in_place_of(n));
}

void LateExtents::require_known(const Node& node) const {
  const Operator* op = find_operator(node.op);
  if (op == nullptr) return;
  for (const std::size_t i : op->inputs.planned) {
    if (i >= node.inputs.size() || node.inputs[i] == kNoTensor) continue;
    if (!table_.values().is_late(node.inputs[i])) continue;
    table_.refuse(node, "it needs '" + table_.graph().tensor(node.inputs[i]).name +
                            "' when the model is planned, and a run alone finds that out");
  }
}

void LateExtents::require_misfit(std::size_t n, const ModelError& error) const {
  const Node& node = table_.graph().nodes[n];
  if (std::ranges::none_of(node.inputs,
                           [&](TensorId id) { return id != kNoTensor && table_.is_late(id); })) {
    return;
  }
  table_.refuse(node, std::string("an extent is known at run time alone, and the most that it may "
                                  "be does not fit: ") +
                          error.what());
}

void LateExtents::pass_on(std::size_t n) {
  if (table_.is_empty()) return;
  const Node& node = table_.graph().nodes[n];
  table_.values().pass_on(node);
  const auto late = [&](TensorId id) { return id != kNoTensor && table_.is_late(id); };
  if (std::ranges::none_of(node.inputs, late)) return;
  const auto defined = [&](TensorId id) { return id == kNoTensor || table_.is_defined(id); };
  if (std::ranges::all_of(node.outputs, defined)) return;
  const std::vector<LateCounts> counts = proved_counts(table_, node);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!defined(node.outputs[i])) table_.define(node.outputs[i], counts[i]);
  }
}

void LateExtents::count_outputs() {
  Graph& graph = table_.graph();
  renew_counts();
  const std::vector<TensorId> outputs = graph.outputs;
  for (const TensorId id : outputs) {
    if (std::ranges::find(growing_, id, &Growing::output) != growing_.end()) continue;
    for (std::size_t d = 0; d < graph.tensor(id).shape.size(); ++d) {
      const TensorId count = table_.count(id, d);
      if (count == kNoTensor) continue;
      if (std::ranges::find(graph.outputs, count) == graph.outputs.end()) {
        graph.outputs.push_back(count);
        ++graph.counting_outputs;
      }
      graph.counts.push_back({id, d, count});
    }
  }
}

}  // namespace morton::passes
