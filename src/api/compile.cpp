// SPDX-License-Identifier: Apache-2.0
#include "morton/compile.hpp"

#include <algorithm>
#include <chrono>

#include "api/compiled_state.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "catalogue/catalogue.hpp"
#include "passes/pipeline.hpp"
#include "plan/narrow.hpp"
#include "run/runner.hpp"

namespace morton {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Graph prepared_graph(const Model& model, const CompileOptions& options) {
  Graph graph = model.graph();
  PassOptions pass_options;
  pass_options.batch = options.batch;
  pass_options.shapes = options.shapes;
  pass_options.skip = options.skip_passes;
  const bool apart = std::any_of(options.use.begin(), options.use.end(),
                                 [](const auto& wanted) { return is_narrow_family(wanted.first); });
  // A kernel for biases or activations is asked for: each must be a step of its own.
  if (apart) pass_options.skip.emplace_back("fuse_epilogues");
  const PassReport report = run_passes(graph, pass_options);
  if (options.log) options.log(print(report));
  return graph;
}

Plan planned(const Graph& graph, const DeviceInfo& device, const CompileOptions& options) {
  Catalogue catalogue = Catalogue::standard();
  for (const auto& file : options.catalogue_files) catalogue.add_file(file);
  if (options.log) {
    for (const auto& [name, why] : catalogue.left_out()) options.log("left out: " + why);
  }
  PlanOptions plan_options;
  plan_options.workspace_limit_bytes = options.workspace_limit_bytes;
  plan_options.use = options.use;
  plan_options.precision = options.precision;
  plan_options.exclude = options.exclude;
  plan_options.local = options.local;
  return make_plan(graph, catalogue, device, plan_options);
}

std::vector<PortInfo> to_ports(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<PortInfo> ports;
  for (const TensorId id : ids) {
    const GraphTensor& tensor = graph.tensor(id);
    const Shape& shape =
        tensor.kind == GraphTensor::Kind::constant ? tensor.data.shape() : tensor.shape;
    ports.push_back({tensor.name, tensor.dtype, shape, std::vector<std::string>(shape.size())});
  }
  return ports;
}

/// Runs every step once on scratch memory, so that the driver has compiled what it compiles at the
/// first launch, then writes the programs to disk.
void store_after_a_run(const std::shared_ptr<LoadedPlan>& loaded, CompileReport& report) {
  const auto start = Clock::now();
  {
    Runner runner(loaded, OpenClDevice::QueueKind::plain);
    runner.enqueue();
    runner.wait();
  }
  for (auto& problem : loaded->store_programs()) report.notes.push_back(std::move(problem));
  report.warm_up_ms = milliseconds_since(start);
}

void fill_report(const LoadedPlan& loaded, CompileReport& report) {
  const BuildReport& builds = loaded.builds();
  report.kernels_from_memory = builds.kernels_from_memory;
  report.kernels_from_disk = builds.kernels_from_disk;
  report.kernels_built = builds.kernels_built;
  report.build_ms = builds.build_ms;
  report.upload_ms = loaded.upload_ms();
  report.notes.insert(report.notes.end(), builds.dropped.begin(), builds.dropped.end());
  report.weight_bytes = block_bytes(loaded.plan(), PlannedBlock::Kind::weights);
  report.activation_bytes = block_bytes(loaded.plan(), PlannedBlock::Kind::activations);
  report.workspace_bytes = block_bytes(loaded.plan(), PlannedBlock::Kind::workspace);
}

DeviceInfo described_device(const std::string& json_text) {
  const Json json = parse_json(json_text, "device description");
  return device_info_from_json(JsonReader(json, "device description"));
}

PlanDetail to_plan_detail(CompiledModel::Detail detail) {
  return detail == CompiledModel::Detail::why ? PlanDetail::why : PlanDetail::brief;
}

}  // namespace

CompiledModel::CompiledModel(std::shared_ptr<const CompiledState> state)
    : state_(std::move(state)) {}

std::vector<PortInfo> CompiledModel::inputs() const { return state_->inputs; }

std::vector<PortInfo> CompiledModel::outputs() const { return state_->outputs; }

const CompileReport& CompiledModel::report() const { return state_->report; }

const Device& CompiledModel::device() const { return state_->device; }

std::vector<StepInfo> CompiledModel::steps() const {
  const Plan& plan = state_->loaded->plan();
  std::vector<StepInfo> steps;
  for (const auto& step : plan.steps) {
    StepInfo info;
    info.name = step.name;
    info.kernel = step.kernel;
    info.role = step.role == Step::Role::repack ? StepInfo::Role::repack : StepInfo::Role::compute;
    info.global = step.global;
    info.local = step.local;
    info.flop = step.flop;
    info.bytes = step.bytes;
    info.estimated_us = step.estimated_us;
    for (const auto& argument : step.arguments) {
      if (argument.kind != StepArgument::Kind::value) continue;
      const Value& value = plan.values[static_cast<std::size_t>(argument.number)];
      info.formats +=
          (info.formats.empty() ? "" : ", ") + argument.name + ": " + print(value.arrangement);
    }
    steps.push_back(std::move(info));
  }
  return steps;
}

std::string CompiledModel::plan_text(Detail detail) const {
  return print(state_->loaded->plan(), to_plan_detail(detail));
}

CompiledModel compile(const Model& model, const Device& device, const CompileOptions& options) {
  auto state =
      std::make_shared<CompiledState>(CompiledState{device, model, options, {}, {}, {}, {}});
  auto start = Clock::now();
  const Graph graph = prepared_graph(model, options);
  state->report.passes_ms = milliseconds_since(start);
  state->inputs = to_ports(graph, graph.inputs);
  state->outputs = to_ports(graph, graph.outputs);
  start = Clock::now();
  Plan plan = planned(graph, device.implementation()->info(), options);
  state->report.plan_ms = milliseconds_since(start);
  const auto loaded = std::make_shared<LoadedPlan>(std::move(plan), device.implementation());
  fill_report(*loaded, state->report);
  if (loaded->wants_storing()) store_after_a_run(loaded, state->report);
  if (options.log) {
    for (const auto& note : state->report.notes) options.log(note);
  }
  state->loaded = loaded;
  return CompiledModel(std::move(state));
}

std::string plan_json(const Model& model, const std::string& device_json,
                      const CompileOptions& options) {
  const DeviceInfo info = described_device(device_json);
  return to_json(planned(prepared_graph(model, options), info, options)).dump();
}

std::string plan_text(const Model& model, const std::string& device_json,
                      CompiledModel::Detail detail, const CompileOptions& options) {
  const DeviceInfo info = described_device(device_json);
  return print(planned(prepared_graph(model, options), info, options), to_plan_detail(detail));
}

}  // namespace morton
