// SPDX-License-Identifier: Apache-2.0
#include "morton/compile.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "api/compile/carry_out.hpp"
#include "api/compile/compiled_state.hpp"
#include "api/compile/interim.hpp"
#include "api/compile/job.hpp"
#include "api/compile/kept_plan.hpp"
#include "api/compile/loading.hpp"
#include "api/compile/model_at_shapes.hpp"
#include "api/compile/planning.hpp"
#include "api/compile/self_test.hpp"
#include "api/compile/several_devices.hpp"
#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/stopwatch.hpp"
#include "device/open/refused_kernels.hpp"
#include "passes/passes.hpp"
#include "plan/ir/print.hpp"
#include "plan/ir/print_json.hpp"
#include "plan/make_plan.hpp"
#include "run/loaded_plan.hpp"

namespace morton {
using namespace api;
namespace {

/// Makes what takes an interim plan's place, with copies of all that it needs.
Successor::Make final_of(const Model& model, const std::vector<Device>& devices,
                         CompileOptions options) {
  // The caller's functions are its own thread's: a session that goes over tells of the notes.
  const auto log = options.log;
  options.log = nullptr;
  options.progress = nullptr;
  options.start = CompileOptions::Start::ready;
  return [=](std::stop_token stop) -> std::shared_ptr<const CompiledState> {
    const KeptPlan kept(model, options, devices.front());
    const Device& device = devices.front();
    Job job = job_of(model, options, store_of(options, device), Inside::of(device)->info());
    job.observer.stop = std::move(stop);
    std::shared_ptr<CompiledState> state = carry_out(job, devices.front());
    kept.keep(*state);
    state->options = options;
    state->log = log;
    return state;
  };
}

/// compile_interim, or nothing where no interim plan can be made; then it says why.
std::shared_ptr<CompiledState> interim_or_none(const Job& job, const Device& device,
                                               Message& why_not) {
  try {
    return compile_interim(job, device);
  } catch (const UnsupportedError& error) {
    why_not = "there is no interim plan: " + error.message();
  } catch (const RefusedKernels& error) {
    why_not = "there is no interim plan: " + error.message();
  }
  job.observer.say(why_not);
  return nullptr;
}

/// Kernels that were built just before count as built, not as found in memory.
void add_builds(const CompileReport::Kernels& before, CompileReport::Kernels& kernels) {
  const int built = std::min(before.built, kernels.from_memory + kernels.from_disk);
  const int of_memory = std::min(built, kernels.from_memory);
  kernels.from_memory -= of_memory;
  kernels.from_disk -= built - of_memory;
  kernels.built += built;
  kernels.compiled_objects += before.compiled_objects;
  kernels.tried += before.tried;
}

/// Throws UsageError where kernels are to be kept and there is no folder for them.
void require_place(const std::vector<Device>& devices, const CompileOptions& options) {
  if (options.unkept == CompileOptions::Unkept::report) return;
  for (const Device& device : devices) {
    if (!Inside::of(device)->cache_folder().empty()) continue;
    const std::string where = "kernels cannot be kept for later starts: ";
    // Without a folder nothing but the folder is noted.
    if (!device.notes().empty()) throw UsageError(where + device.notes().front());
    throw UsageError(where + "no cache folder is known: give " + setting("cache_dir") +
                     ", or set MORTON_CACHE_DIR");
  }
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
    if (step.transfer() != nullptr) info.role = StepInfo::Role::transfer;
    if (is_on_host(step)) info.place = StepInfo::Place::host;
    info.device = step.device.index();
    info.global = launch_of(step).global;
    info.local = launch_of(step).local;
    info.flop = step.cost.flop;
    info.bytes = step.cost.bytes;
    info.logical_bytes = step.cost.logical_bytes;
    info.footprint_bytes = step.cost.footprint_bytes;
    info.estimated_us = step.cost.estimated_us;
    info.tunables.insert(step.tunables.begin(), step.tunables.end());
    for (const auto& argument : step.arguments) {
      const PassedValue* passed = argument.value();
      if (passed == nullptr) continue;
      const Value& value = plan.values[passed->id];
      info.formats +=
          (info.formats.empty() ? "" : ", ") + argument.name + ": " + print(value.arrangement);
      info.operands.push_back({argument.name, layout::layout_text(value.arrangement),
                               value.arrangement.dtype, operand_extents(value.arrangement),
                               value.arrangement.padded});
    }
    steps.push_back(std::move(info));
  }
  return steps;
}

std::string CompiledModel::plan_text(Detail detail, SettingPrinter printer) const {
  return print(state_->loaded->plan(), detail, printer);
}

std::string CompiledModel::steps_digest() const {
  const Plan& plan = state_->loaded->plan();
  std::ostringstream text;
  for (const auto& device : plan.devices) text << device.fingerprint << "\n";
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      const KernelLaunch* launch = step.launch();
      text << (launch == nullptr ? step.kernel : plan.instances[launch->instance].key);
      for (const std::int64_t size : launch_of(step).global) text << " " << size;
      for (const StepArgument& argument : step.arguments) {
        if (const std::int64_t* integer = argument.integer()) text << " " << *integer;
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
  require_place(devices, options);
  check_weights(options.weights, devices.size());
  const auto job = [&] {
    const Device& device = devices.front();
    return job_of(model, options, store_of(options, device), Inside::of(device)->info());
  };
  std::shared_ptr<CompiledState> state;
  if (devices.size() > 1) {
    state = carry_out_over(devices, job());
  } else {
    const KeptPlan kept(model, options, devices.front());
    state = kept.compiled();
    if (state == nullptr) {
      const Job made = job();
      Message why_not = why_not_interim(model, options, devices);
      if (!why_not.empty()) made.observer.say(why_not);
      const bool asks = options.start != CompileOptions::Start::ready && why_not.empty();
      if (asks) state = interim_or_none(made, devices.front(), why_not);
      if (state == nullptr || state->report.stage == CompileReport::Stage::final) {
        const auto replaced = std::exchange(state, carry_out(made, devices.front()));
        if (replaced != nullptr) add_builds(replaced->report.kernels, state->report.kernels);
        state->report.why_ready = why_not;
        kept.keep(*state);
      } else if (options.start == CompileOptions::Start::at_once) {
        state->successor = std::make_shared<const Successor>(
            final_of(model, devices, options), [device = devices.front()](std::stop_token stop) {
              build_interim_kernels(device, std::move(stop));
            });
      }
    }
  }
  for (Message& note : notes_on_shapes(Inside::of(model), pass_options_of(options))) {
    if (options.log) options.log(note);
    state->report.notes.push_back(std::move(note));
  }
  state->options = options;
  // Told to the caller of this alone: what compiles again with these options does so later.
  state->options.progress = nullptr;
  return Inside::make(state);
}

CompiledModel CompiledModel::latest() const {
  if (state_->successor == nullptr) return *this;
  const auto ready = state_->successor->ready();
  return ready == nullptr ? *this : CompiledModel(ready);
}

CompiledModel CompiledModel::settled() const {
  return state_->successor == nullptr ? *this : CompiledModel(state_->successor->wait());
}

namespace {

/// The plan for extents that were given when compiling is made; others come from what is built.
Plan plan_at(const CompiledState& state, const InputShapes& shapes, const Graph& graph,
             MissingKernels missing) {
  const auto found = std::ranges::find(state.others.also, shapes, &PlanAtShapes::shapes);
  if (found != state.others.also.end()) return *found->plan;
  const DeviceInfo& info = Inside::of(state.devices.front())->info();
  return make_plan(graph, info, state.others.policy.get().among(state.others.built, missing));
}

}  // namespace

CompiledModel CompiledModel::with_shapes(const InputShapes& shapes, Missing missing) const {
  if (state_->successor != nullptr && state_->successor->ready() != nullptr) {
    return latest().with_shapes(shapes, missing);
  }
  if (state_->devices.size() != 1) {
    throw UnsupportedError("compile: a model over several devices has one shape; compile it anew");
  }
  if (!state_->model) {
    throw UnsupportedError(
        "compile: a model that was compiled ahead has the shapes that its file holds; compile the "
        "model for this shape too (" +
        setting("also") + ")");
  }
  const ModelAtShapes subject(*state_->model, at_shapes(state_->passes, shapes));
  if (state_->log) state_->log(print(subject.report()));
  CompiledState other = state_before_planning(subject, state_->devices);
  other.options = state_->options;
  other.options.batch = shapes.batch;
  other.options.shapes = shapes.shapes;
  other.others.policy = state_->others.policy;
  other.others.built = state_->others.built;
  other.others.also = state_->others.also;
  other.log = state_->log;
  other.fallback = state_->fallback;
  other.others.family = state_->others.family;
  CompileReport& report = other.report;
  report.stage = state_->report.stage;
  const Stopwatch watch;
  Plan plan = plan_at(*state_, shapes, subject.graph(), missing);
  report.times.plan_ms = watch.milliseconds();
  Countdown countdown({}, plan, {});
  const auto loaded = std::make_shared<LoadedPlan>(std::move(plan), state_->others.family);
  fill_report(*loaded, report);
  if (report.kernels.built > 0) {
    report.notes.push_back(std::to_string(report.kernels.built) +
                           " kernels were built for these shapes");
    if (loaded->wants_storing()) store_after_a_run(loaded, {}, countdown, report);
  }
  take_fallbacks(loaded->plan(), other.fallback, report);
  if (other.log) {
    for (const auto& note : report.notes) other.log(note);
  }
  other.loaded = loaded;
  return CompiledModel(std::make_shared<const CompiledState>(std::move(other)));
}

std::string plan_json(const Model& model, const std::vector<std::string>& device_jsons,
                      const CompileOptions& options, SettingPrinter printer) {
  return to_json(planned_for(model, device_jsons, options), printer).dump();
}

std::string plan_text(const Model& model, const std::string& device_json,
                      CompiledModel::Detail detail, const CompileOptions& options,
                      SettingPrinter printer) {
  return plan_text(model, std::vector{device_json}, detail, options, printer);
}

std::string plan_text(const Model& model, const std::vector<std::string>& device_jsons,
                      CompiledModel::Detail detail, const CompileOptions& options,
                      SettingPrinter printer) {
  return print(planned_for(model, device_jsons, options), detail, printer);
}

}  // namespace morton
