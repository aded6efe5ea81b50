// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <utility>

#include "api/inside.hpp"
#include "api/segments/cut_graph.hpp"
#include "api/segments/segment.hpp"
#include "base/error.hpp"
#include "morton/segments.hpp"
#include "morton/support.hpp"

namespace morton {
using namespace api;
namespace {

void require_tensor(const GraphTensor& port) {
  if (port.form.is_tensor()) return;
  throw UnsupportedError("segments: '" + port.name +
                         "' is a list or an optional value; a model that is cut takes and gives "
                         "tensors alone");
}

const GraphTensor& port_named(const Graph& graph, const std::string& name) {
  for (const TensorId id : graph.inputs) {
    if (graph.tensor(id).name == name) return graph.tensor(id);
  }
  throw UsageError("segments: the model has no input '" + name + "'");
}

void check_input(const GraphTensor& port, const Tensor& value) {
  if (value.dtype() == port.dtype && is_declared_as(port, value.shape())) return;
  throw UsageError("segments: input '" + port.name + "' is " + std::string(name_of(value.dtype())) +
                   " " + to_string(value.shape()) + ", which the model does not take");
}

}  // namespace

struct SegmentedSession::State {
  State(const Model& model, const Device& device, const CompileOptions& options,
        const SegmentOptions& limits)
      : context{device, options, limits, Inside::limits_of(model)},
        whole(Inside::of(model), context, 0) {}

  SegmentContext context;
  Segment whole;
};

SegmentedSession::SegmentedSession(const Model& model, const Device& device,
                                   const CompileOptions& options, const SegmentOptions& limits) {
  if (!options.feeds.empty()) {
    throw UsageError("segments: " + setting("feeds") + ": a model that is cut feeds nothing back");
  }
  require_supported(model);
  const Graph& graph = Inside::of(model);
  for (const TensorId id : graph.inputs) require_tensor(graph.tensor(id));
  for (const TensorId id : graph.outputs) require_tensor(graph.tensor(id));
  state_ = std::make_unique<State>(model, device, options, limits);
}

SegmentedSession::SegmentedSession(SegmentedSession&&) noexcept = default;
SegmentedSession& SegmentedSession::operator=(SegmentedSession&&) noexcept = default;
SegmentedSession::~SegmentedSession() = default;

std::vector<NamedTensor> SegmentedSession::run(std::span<const NamedTensor> inputs) {
  const Graph& graph = state_->whole.graph();
  Values given;
  for (const NamedTensor& input : inputs) {
    check_input(port_named(graph, input.name), input.tensor);
    if (given.emplace(input.name, input.tensor).second) continue;
    throw UsageError("segments: input '" + input.name + "' is given twice");
  }
  for (const TensorId id : graph.inputs) {
    if (given.contains(graph.tensor(id).name)) continue;
    throw UsageError("segments: input '" + graph.tensor(id).name + "' is missing");
  }
  SegmentsReport& report = state_->context.report;
  report = {.waits = {}, .fallbacks = std::move(report.fallbacks)};
  const Values results = state_->whole.run(given);
  std::vector<NamedTensor> outputs;
  for (const TensorId id : graph.outputs) {
    const std::string& name = graph.tensor(id).name;
    outputs.push_back({name, results.at(name)});
  }
  return outputs;
}

const SegmentsReport& SegmentedSession::report() const { return state_->context.report; }

PartBeforeWait part_before_wait(const Model& model, const CompileOptions& options,
                                const NeedsSegments& error) {
  CutParts parts = cut_at(Inside::of(model), error);
  PartBeforeWait part{{}, options, error.message(), parts.is_control ? 1 : 0};
  if (parts.behind) part.nodes_behind += std::ssize(parts.behind->nodes);
  if (!parts.before) return part;
  const auto is_unknown = [&](const auto& given) {
    const TensorId id = parts.before->find(given.first);
    return id == kNoTensor || parts.before->tensor(id).kind != GraphTensor::Kind::input;
  };
  std::erase_if(part.options.shapes, is_unknown);
  std::erase_if(part.options.values, is_unknown);
  part.options.feeds.clear();
  part.model = Inside::make(*std::move(parts.before), Inside::limits_of(model));
  return part;
}

}  // namespace morton
