// SPDX-License-Identifier: Apache-2.0
#include "morton/compare.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "api/compile/compiled_state.hpp"
#include "api/inside.hpp"
#include "api/inspect/rounded_operands.hpp"
#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "morton/session.hpp"
#include "ops/core/partial_reference.hpp"
#include "passes/pipeline.hpp"
#include "run/layer_values.hpp"
#include "run/loaded_plan.hpp"

namespace morton {
using namespace api;
namespace {

/// Names of computed tensors, in the order of their steps.
std::vector<std::string> in_order(const std::map<std::string, LayerValue>& layers) {
  std::vector<std::string> names;
  for (const auto& [name, layer] : layers) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return layers.at(a).step < layers.at(b).step;
  });
  return names;
}

/// An element and what it may be. A NaN stands for a NaN only, an infinity for itself.
struct Element {
  double expected = 0.0, tolerance = 0.0, got = 0.0;

  [[nodiscard]] bool is_right() const {
    if (std::isnan(expected)) return std::isnan(got);
    if (std::isinf(expected)) return got == expected;
    return std::fabs(got - expected) <= tolerance;
  }
  /// Infinite operands may leave a result without a bound, and then nothing is said of it.
  [[nodiscard]] bool has_bound() const {
    return std::isnan(expected) ? !std::isinf(tolerance) : std::isfinite(tolerance);
  }
};

void add(const Element& element, std::int64_t index, LayerComparison& layer) {
  if (!element.has_bound()) return;
  ++layer.checked;
  if (std::isfinite(element.expected)) ++layer.finite;
  const double error = std::fabs(element.got - element.expected);
  if (std::isfinite(error)) layer.largest_error = std::max(layer.largest_error, error);
  if (std::isfinite(error) && error > 0.0) {
    const double share = element.tolerance > 0.0 ? error / element.tolerance : INFINITY;
    layer.largest_share = std::max(layer.largest_share, share);
  }
  if (element.is_right()) return;
  if (layer.wrong++ > 0) return;
  std::ostringstream text;
  text.precision(9);
  text << "element " << index << ": expected " << element.expected << " +- " << element.tolerance
       << ", got " << element.got;
  layer.first_wrong = text.str();
}

double deviation_of(const Tensor& tensor) {
  double sum = 0.0;
  double squares = 0.0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    sum += tensor.at(i);
    squares += tensor.at(i) * tensor.at(i);
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(tensor.size(), 1));
  return std::sqrt(std::max(squares / count - sum / count * (sum / count), 0.0));
}

LayerComparison describe(const std::string& name, const LayerValue& layer) {
  LayerComparison comparison;
  comparison.name = name;
  comparison.kernels = layer.kernels;
  comparison.shape = layer.value.shape();
  comparison.dtype = layer.value.dtype();
  comparison.elements = layer.value.size();
  comparison.deviation = deviation_of(layer.value);
  return comparison;
}

/// Row-major index in the whole tensor of element `index` of the chosen channels.
std::int64_t whole_index(std::int64_t index, const Shape& shape, const ChannelChoice& choice) {
  std::int64_t inner = 1;
  for (std::size_t d = choice.axis + 1; d < shape.size(); ++d) inner *= shape[d];
  const auto chosen = static_cast<std::int64_t>(choice.indices.size());
  const std::int64_t channel = choice.indices[static_cast<std::size_t>(index / inner % chosen)];
  return (index / inner / chosen * shape[choice.axis] + channel) * inner + index % inner;
}

/// What the kernels of a layer may do to a convolution; of several transforms the widest.
TransformError transform_error(const PlannedLayer& layer, const Plan& plan) {
  TransformError widest;
  for (const Step* step : layer.steps) {
    if (!step->kernel.starts_with("winograd_weights.")) continue;
    const bool is_short = plan.values[step->writes.front()].arrangement.dtype == DType::f16;
    // What is added up is rounded to f16 on the way: 2 * 2^-11 * S in place of 8 * 2^-24 * S.
    TransformError own{is_short ? 2048.0 : 8.0, 2};
    if (step->kernel.ends_with("f4x4")) own = {128.0, 4};
    if (own.slack > widest.slack) widest = own;
  }
  return widest;
}

LayerComparison compare_layer(const Graph& graph, TensorId id, const LayerValue& layer,
                              const KnownValues& known, const TransformError& transform,
                              const LayerOptions& options) {
  LayerComparison comparison = describe(graph.tensor(id).name, layer);
  const PartialReference reference =
      partial_reference(graph, id, known, {options.most_multiplications, options.seed, transform});
  comparison.nodes = reference.nodes;
  const Tensor got = reference.channels ? take(layer.value, *reference.channels) : layer.value;
  const auto count = static_cast<std::int64_t>(reference.value.value.size());
  if (got.size() != count) {
    throw InternalError("compare: '" + comparison.name + "' has " + std::to_string(got.size()) +
                        " elements on the device, " + std::to_string(count) + " in the reference");
  }
  const bool is_stored_shorter = layer.value.dtype() != graph.tensor(id).dtype;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t index =
        reference.channels ? whole_index(i, comparison.shape, *reference.channels) : i;
    Bounded right{reference.value.value[at], options.slack * reference.value.error[at]};
    if (is_stored_shorter) right = stored_as(layer.value.dtype(), right);
    add({right.value, right.error, got.at(i)}, index, comparison);
  }
  return comparison;
}

/// Names of the tensors that the model's nodes compute.
std::set<std::string> computed_names(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes) {
    for (const TensorId id : node.outputs) {
      if (id != kNoTensor) names.insert(graph.tensor(id).name);
    }
  }
  return names;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_asked_for(const std::string& name, const LayerOptions& options) {
  return options.only.empty() || holds(options.only, name);
}

/// Keeps the named layers and those that they are computed from.
void keep(const std::vector<std::string>& names, std::vector<PlannedLayer>& layers) {
  std::set<std::string> needed(names.begin(), names.end());
  for (const PlannedLayer& layer : layers) {
    if (holds(names, layer.name)) needed.insert(layer.sources.begin(), layer.sources.end());
  }
  std::erase_if(layers, [&](const PlannedLayer& layer) { return !needed.contains(layer.name); });
}

/// Outputs with an extent that a run finds out, as long as the data say.
std::map<std::string, Tensor> late_outputs(const CompiledModel& model,
                                           std::span<const NamedTensor> inputs) {
  std::map<std::string, Tensor> late;
  const std::vector<PortInfo> ports = model.outputs();
  const auto is_late = [](const PortInfo& port) { return !port.counts.empty(); };
  if (std::ranges::none_of(ports, is_late)) return late;
  Session session(model);
  std::vector<NamedTensor> outputs = session.run(inputs);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (is_late(ports[i])) late[ports[i].name] = std::move(outputs[i].tensor);
  }
  return late;
}

void check_known(const Graph& graph, const std::map<std::string, Tensor>& late,
                 const NamedTensor& expected) {
  const TensorId id = graph.find(expected.name);
  if (id == kNoTensor) {
    throw UsageError("compare: the model has no tensor '" + expected.name + "'");
  }
  const auto counted = late.find(expected.name);
  const Shape shape = counted == late.end() ? graph.tensor(id).shape : counted->second.shape();
  if (shape != expected.tensor.shape()) {
    throw UsageError("compare: '" + expected.name + "' is " + to_string(shape) +
                     " in the model and " + to_string(expected.tensor.shape()) +
                     " in what it is compared with");
  }
}

/// Values that no step computes: outputs that are inputs or constants, or other names of those.
void add_outputs(const CompiledModel& model, std::span<const NamedTensor> inputs,
                 std::map<std::string, LayerValue>& layers) {
  const auto missing = [&](const PortInfo& port) { return !layers.contains(port.name); };
  const std::vector<PortInfo> outputs = model.outputs();
  if (std::none_of(outputs.begin(), outputs.end(), missing)) return;
  Session session(model);
  for (NamedTensor& output : session.run(inputs)) {
    layers.emplace(output.name, LayerValue{std::move(output.tensor), {}, 0});
  }
}

}  // namespace

LayerReport compare_layers(const CompiledModel& model, std::span<const NamedTensor> inputs,
                           const LayerOptions& options) {
  const CompiledState& state = *Inside::of(model);
  // Which constants are rounded is known of those that the passes have made.
  const bool rounds = state.options.precision.operands != DType::f32;
  const Graph graph = rounds ? planned_graph(state) : stated_graph(state);
  // Passes make tensors of their own; what reads those is compared from what stands before.
  const std::set<std::string> computed = computed_names(graph);
  const auto is_known = [&](const std::string& name) { return computed.contains(name); };
  auto planned = planned_layers(state.loaded->plan(), is_known);
  if (!options.only.empty()) keep(options.only, planned);
  const auto layers = layer_values(state.loaded, inputs, planned);
  KnownValues known;
  for (const NamedTensor& input : inputs) known[graph.find(input.name)] = input.tensor;
  LayerReport report;
  RoundedOperands rounded(state.loaded->plan(), graph);
  for (const std::string& name : in_order(layers)) {
    const TensorId id = graph.find(name);
    const LayerValue& layer = layers.at(name);
    if (is_asked_for(name, options)) {
      const auto plan = std::ranges::find(planned, name, &PlannedLayer::name);
      report.layers.push_back(compare_layer(graph, id, layer,
                                            rounds ? rounded.known_to(plan->steps, known) : known,
                                            transform_error(*plan, state.loaded->plan()), options));
    }
    known[id] = layer.value.dtype() == graph.tensor(id).dtype
                    ? layer.value
                    : layer.value.converted(graph.tensor(id).dtype);
  }
  return report;
}

LayerReport compare_with(const CompiledModel& model, std::span<const NamedTensor> inputs,
                         std::span<const NamedTensor> expected, const Tolerance& tolerance) {
  const CompiledState& state = *Inside::of(model);
  const Graph graph = stated_graph(state);
  const std::map<std::string, Tensor> late = late_outputs(model, inputs);
  for (const NamedTensor& tensor : expected) check_known(graph, late, tensor);
  auto layers = layer_values(state.loaded, inputs);
  add_outputs(model, inputs, layers);
  for (const auto& [name, value] : late) layers[name].value = value;
  LayerReport report;
  for (const std::string& name : in_order(layers)) {
    const auto found = std::find_if(expected.begin(), expected.end(),
                                    [&](const NamedTensor& one) { return one.name == name; });
    if (found == expected.end()) continue;
    const LayerValue& layer = layers.at(name);
    LayerComparison comparison = describe(name, layer);
    for (std::int64_t i = 0; i < layer.value.size(); ++i) {
      const double value = found->tensor.at(i);
      const double allowed = tolerance.absolute + tolerance.relative * std::fabs(value);
      add({value, allowed, layer.value.at(i)}, i, comparison);
    }
    report.layers.push_back(std::move(comparison));
  }
  for (const NamedTensor& tensor : expected) {
    if (!layers.contains(tensor.name)) report.not_kept.push_back(tensor.name);
  }
  return report;
}

}  // namespace morton
