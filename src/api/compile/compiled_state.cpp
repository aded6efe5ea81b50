// SPDX-License-Identifier: Apache-2.0
#include "api/compile/compiled_state.hpp"

#include <algorithm>
#include <set>

#include "api/inside.hpp"
#include "ops/core/planned.hpp"
#include "passes/pipeline.hpp"

namespace morton::api {
namespace {

std::vector<PortInfo> ports_of(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<PortInfo> ports;
  for (const TensorId id : ids) {
    const GraphTensor& tensor = graph.tensor(id);
    const Shape& shape =
        tensor.kind == GraphTensor::Kind::constant ? tensor.data.shape() : tensor.shape;
    ports.push_back({tensor.name, tensor.dtype, shape, std::vector<std::string>(shape.size())});
  }
  return ports;
}

/// The model's own outputs, without those that only count.
std::vector<PortInfo> output_ports_of(const Graph& graph) {
  const auto end = graph.outputs.end() - static_cast<std::ptrdiff_t>(graph.counting_outputs);
  std::vector<PortInfo> ports = ports_of(graph, {graph.outputs.begin(), end});
  for (const OutputCount& late : graph.counts) {
    const auto place = std::ranges::find(graph.outputs, late.output) - graph.outputs.begin();
    PortInfo& port = ports[static_cast<std::size_t>(place)];
    port.counts.resize(port.shape.size());
    port.counts[late.dimension] = graph.tensor(late.count).name;
  }
  return ports;
}

/// Of the values that are given, those from which shapes follow.
std::map<std::string, Tensor> planned_values_of(const ModelAtShapes& subject) {
  const auto& given = subject.passes().values;
  const Graph& graph = Inside::of(subject.model());
  std::map<std::string, Tensor> values;
  if (given.empty()) return values;
  std::set<std::string> names;
  for (const TensorId id : planned_graph_inputs(graph)) names.insert(graph.tensor(id).name);
  for (const auto& [name, value] : given) {
    const auto element = as_list_element(name);
    if (names.contains(name) || (element && names.contains(element->list))) {
      values.emplace(name, value);
    }
  }
  return values;
}

}  // namespace

CompiledState state_before_planning(const ModelAtShapes& subject,
                                    const std::vector<Device>& devices) {
  CompiledState state{devices, subject.model()};
  state.passes = subject.passes();
  state.inputs = ports_of(subject.graph(), subject.graph().inputs);
  state.outputs = output_ports_of(subject.graph());
  // The node that gives a named output may have been replaced since.
  const Graph& model = Inside::of(subject.model());
  for (PortInfo& output : state.outputs) {
    const TensorId id = model.find(output.name);
    if (id != kNoTensor) output.labels = model.tensor(id).labels;
  }
  state.planned_values = planned_values_of(subject);
  state.growths = subject.graph().growths;
  state.report.times.passes_ms = subject.passes_ms();
  return state;
}

namespace {

Graph graph_behind(const CompiledState& state, const PassOptions& options) {
  if (!state.model) {
    throw UsageError("compare: a compiled file holds no reference; compare the model itself");
  }
  Graph graph = Inside::of(*state.model);
  run_passes(graph, options);
  return graph;
}

}  // namespace

Graph stated_graph(const CompiledState& state) {
  PassOptions options = state.passes;
  for (const Pass& pass : all_passes()) {
    if (pass.need == Pass::Need::optional) options.skip.emplace_back(pass.name);
  }
  return graph_behind(state, options);
}

Graph planned_graph(const CompiledState& state) {
  PassOptions options = state.passes;
  for (const char* pass : {"fuse_epilogues", "cut_nodes"}) options.skip.emplace_back(pass);
  return graph_behind(state, options);
}

}  // namespace morton::api
