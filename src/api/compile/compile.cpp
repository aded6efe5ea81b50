// SPDX-License-Identifier: Apache-2.0
#include "morton/compile.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/compile/compiled_state.hpp"
#include "api/compile/loading.hpp"
#include "api/compile/other_shapes.hpp"
#include "api/compile/planning.hpp"
#include "api/compile/self_test.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/shape.hpp"
#include "ops/core/planned.hpp"

namespace morton {
using namespace api;
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

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

/// Of the values that are given, those from which shapes follow.
std::map<std::string, Tensor> planned_values_of(const Model& model, const CompileOptions& options) {
  std::map<std::string, Tensor> values;
  if (options.values.empty()) return values;
  for (const TensorId id : planned_graph_inputs(model.graph())) {
    const auto given = options.values.find(model.graph().tensor(id).name);
    if (given != options.values.end()) values.insert(*given);
  }
  return values;
}

DeviceInfo described_device(const std::string& json_text) {
  const Json json = parse_json(json_text, "device description");
  return device_info_from_json(JsonReader(json, "device description"));
}

/// The plan for the described devices; nothing runs, so several share the batch by estimates.
Plan planned_for(const Model& model, const std::vector<std::string>& device_jsons,
                 const CompileOptions& options) {
  if (device_jsons.empty()) throw UsageError("plan: no device is given");
  std::vector<DeviceInfo> devices;
  for (const std::string& text : device_jsons) devices.push_back(described_device(text));
  const Graph graph = prepared_graph(model, options);
  if (devices.size() == 1) return planned(graph, devices.front(), options);
  const auto rows = estimated_rows(model, graph, devices, options);
  return split_planned(model, graph, devices, rows, options, plan_setup(options));
}

/// The second word of "f32 R_*_64_R [A=150->150 B=100->128] rim zero".
std::string layout_in(const std::string& format) {
  const std::size_t start = format.find(' ') + 1;
  return format.substr(start, format.find(' ', start) - start);
}

PlanDetail to_plan_detail(CompiledModel::Detail detail) {
  return detail == CompiledModel::Detail::why ? PlanDetail::why : PlanDetail::brief;
}

/// Tuning data comes from where the device keeps its programs, unless something else is said.
CompileOptions with_cache_folder(CompileOptions options, const Device& device) {
  const auto& folder = device.implementation()->cache_folder();
  if (options.cache_dir.empty()) options.cache_dir = folder.string();
  return options;
}

/// Adds what the plan does otherwise than was asked for. Throws where the options refuse that.
void take_fallbacks(const Plan& plan, const CompileOptions& options, CompileReport& report) {
  add_fallbacks(plan, report);
  if (options.fallback == CompileOptions::Fallback::report || report.fallbacks.empty()) return;
  std::string text;
  for (const std::string& fallback : report.fallbacks) text += "\n  " + fallback;
  throw UnsupportedError("--strict: the model falls back to another way of computing:" + text);
}

}  // namespace

CompiledModel::CompiledModel(std::shared_ptr<const CompiledState> state)
    : state_(std::move(state)) {}

std::vector<PortInfo> CompiledModel::inputs() const { return state_->inputs; }

std::vector<PortInfo> CompiledModel::outputs() const { return state_->outputs; }

const CompileReport& CompiledModel::report() const { return state_->report; }

const Device& CompiledModel::device() const { return state_->devices.front(); }

const std::vector<Device>& CompiledModel::devices() const { return state_->devices; }

std::vector<StepInfo> CompiledModel::steps() const {
  const Plan& plan = state_->loaded->plan();
  std::vector<StepInfo> steps;
  for (const auto& step : plan.steps) {
    StepInfo info;
    info.name = step.name;
    info.kernel = step.kernel;
    info.role = step.role == Step::Role::repack ? StepInfo::Role::repack : StepInfo::Role::compute;
    if (step.kind == Step::Kind::transfer) info.role = StepInfo::Role::transfer;
    if (step.place == Step::Place::host) info.place = StepInfo::Place::host;
    info.slot = step.slot;
    info.global = step.global;
    info.local = step.local;
    info.flop = step.flop;
    info.bytes = step.bytes;
    info.logical_bytes = step.logical_bytes;
    info.footprint_bytes = step.footprint_bytes;
    info.estimated_us = step.estimated_us;
    info.tunables.insert(step.tunables.begin(), step.tunables.end());
    for (const auto& argument : step.arguments) {
      if (argument.kind != StepArgument::Kind::value) continue;
      const Value& value = plan.values[static_cast<std::size_t>(argument.number)];
      const std::string format = print(value.arrangement);
      info.formats += (info.formats.empty() ? "" : ", ") + argument.name + ": " + format;
      info.operands.push_back({argument.name, layout_in(format), value.arrangement.dtype});
    }
    steps.push_back(std::move(info));
  }
  return steps;
}

std::string CompiledModel::plan_text(Detail detail) const {
  return print(state_->loaded->plan(), to_plan_detail(detail));
}

std::string CompiledModel::steps_digest() const {
  const Plan& plan = state_->loaded->plan();
  std::ostringstream text;
  for (const std::string& device : plan.devices) text << device << "\n";
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      text << (step.kind == Step::Kind::kernel
                   ? plan.instances[static_cast<std::size_t>(step.instance)].key
                   : step.kernel);
      for (const std::int64_t size : step.global) text << " " << size;
      for (const StepArgument& argument : step.arguments) {
        if (argument.kind == StepArgument::Kind::integer) text << " " << argument.number;
      }
      text << "\n";
    }
  }
  return digest_of(text.str());
}

CompiledModel compile(const Model& model, const Device& device, const CompileOptions& options) {
  return compile(model, std::vector{device}, options);
}

CompiledModel compile(const Model& model, const std::vector<Device>& devices,
                      const CompileOptions& options) {
  if (devices.empty()) throw UsageError("compile: no device is given");
  const Compile untried = [&](const CompileOptions& with) {
    return compile_untried(model, devices, with);
  };
  // The reference's bounds are those of f32.
  const bool tries = options.self_test == CompileOptions::SelfTest::once && devices.size() == 1 &&
                     options.precision == DType::f32 &&
                     !devices.front().implementation()->cache_folder().empty();
  const auto state = tries ? compile_tried(untried, options) : untried(options);
  take_fallbacks(state->loaded->plan(), options, state->report);
  return CompiledModel(state);
}

std::shared_ptr<CompiledState> api::compile_untried(const Model& model,
                                                    const std::vector<Device>& devices,
                                                    const CompileOptions& given) {
  const CompileOptions options = with_cache_folder(given, devices.front());
  CompiledState begun{devices, model, given};
  begun.options.progress = nullptr;  // whoever waits, waits for this
  begun.planned_values = planned_values_of(model, given);
  auto state = std::make_shared<CompiledState>(std::move(begun));
  CompileReport& report = state->report;
  auto start = Clock::now();
  const Graph graph = prepared_graph(model, options);
  report.passes_ms = milliseconds_since(start);
  state->inputs = ports_of(graph, graph.inputs);
  state->outputs = ports_of(graph, graph.outputs);
  if (devices.size() > 1) share_batch(model, graph, devices, options, report);
  start = Clock::now();
  Plan plan;
  OtherShapes others;
  // A device that keeps nothing on disk reads nothing there either, unless a folder is named.
  auto setup = std::make_shared<const PlanSetup>(plan_setup(options, options.cache_dir));
  if (devices.size() == 1) {
    const DeviceInfo& info = devices.front().implementation()->info();
    state->setup = setup;
    plan = planned(graph, info, *state->setup);
    others = prepare_other_shapes(model, graph, info, *state->setup, options, plan);
    state->built = others.built;
    state->also = others.chosen;
    report.kernels_for_other_shapes = others.kernels;
  } else {
    plan = split_planned(model, graph, infos_of(devices), rows_of(report.shares), options, *setup);
  }
  report.plan_ms = milliseconds_since(start);
  std::vector<std::shared_ptr<OpenClDevice>> opened;
  for (const Device& device : devices) opened.push_back(device.implementation());
  Countdown countdown(options.progress, plan, others.plans);
  const auto loaded = std::make_shared<LoadedPlan>(std::move(plan), std::move(opened),
                                                   [&] { countdown.one_done(); });
  finish_loading(loaded, std::move(others.plans), countdown, options.log, report);
  state->loaded = loaded;
  state->family = loaded;
  return state;
}

namespace {

/// The plan for extents that were given when compiling is made; others come from what is built.
Plan plan_at(const CompiledState& state, const InputShapes& shapes, const Graph& graph,
             const PlanLimits& limits) {
  const auto found = std::ranges::find(state.options.also, shapes);
  const auto at = static_cast<std::size_t>(found - state.options.also.begin());
  if (at < state.also.size()) return *state.also[at];
  const DeviceInfo& info = state.devices.front().implementation()->info();
  return planned(graph, info, *state.setup, limits);
}

}  // namespace

CompiledModel CompiledModel::with_shapes(const InputShapes& shapes, Missing missing) const {
  if (state_->devices.size() != 1) {
    throw UnsupportedError("compile: a model over several devices has one shape; compile it anew");
  }
  if (!state_->model) {
    throw UnsupportedError(
        "compile: a model that was compiled ahead has the shapes that its file holds; compile the "
        "model for this shape too (morton compile --also-shape)");
  }
  CompiledState other = *state_;
  other.options = with_extents(state_->options, shapes);
  other.report = {};
  CompileReport& report = other.report;
  auto start = Clock::now();
  const Graph graph = prepared_graph(*state_->model, other.options);
  report.passes_ms = milliseconds_since(start);
  other.inputs = ports_of(graph, graph.inputs);
  other.outputs = ports_of(graph, graph.outputs);
  start = Clock::now();
  Plan plan = plan_at(*state_, shapes, graph, {state_->built, missing});
  report.plan_ms = milliseconds_since(start);
  Countdown countdown({}, plan, {});
  const auto loaded = std::make_shared<LoadedPlan>(std::move(plan), state_->family);
  fill_report(*loaded, report);
  if (report.kernels_built > 0) {
    report.notes.push_back(std::to_string(report.kernels_built) +
                           " kernels were built for these shapes");
    if (loaded->wants_storing()) store_after_a_run(loaded, {}, countdown, report);
  }
  take_fallbacks(loaded->plan(), other.options, report);
  if (other.options.log) {
    for (const auto& note : report.notes) other.options.log(note);
  }
  other.loaded = loaded;
  return CompiledModel(std::make_shared<const CompiledState>(std::move(other)));
}

std::string plan_json(const Model& model, const std::vector<std::string>& device_jsons,
                      const CompileOptions& options) {
  return to_json(planned_for(model, device_jsons, options)).dump();
}

std::string plan_text(const Model& model, const std::string& device_json,
                      CompiledModel::Detail detail, const CompileOptions& options) {
  return plan_text(model, std::vector{device_json}, detail, options);
}

std::string plan_text(const Model& model, const std::vector<std::string>& device_jsons,
                      CompiledModel::Detail detail, const CompileOptions& options) {
  return print(planned_for(model, device_jsons, options), to_plan_detail(detail));
}

}  // namespace morton
