// SPDX-License-Identifier: Apache-2.0
#include "api/compile/loading.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "run/program_builds.hpp"
#include "run/runner.hpp"
#include "run/worker_builds.hpp"

namespace morton::api {
namespace {

void run_once(const std::shared_ptr<const LoadedPlan>& loaded, Countdown& countdown) {
  Runner runner(loaded, OpenClDevice::QueueKind::plain);
  runner.run_watched([&](std::size_t) { countdown.one_done(); });
}

/// Throws UsageError where kernels are to be kept, and cannot.
void require_may_go_unkept(const CompiledState& state, const Message& why) {
  if (state.unkept == CompileOptions::Unkept::report) return;
  throw UsageError("kernels cannot be kept for later starts: " + why);
}

}  // namespace

Countdown::Countdown(std::function<void(double)> tell, const Plan& plan,
                     const std::vector<Plan>& others)
    : tell_(std::move(tell)), parts_(plan.programs.size() + plan.steps.size()) {
  for (const Plan& other : others) parts_ += other.steps.size();
}

void Countdown::one_done() {
  ++done_;
  if (tell_) tell_(static_cast<double>(done_) / static_cast<double>(parts_));
}

void Countdown::all_done() {
  if (tell_ && done_ < parts_) tell_(1.0);
  done_ = parts_;
}

void store_after_a_run(const std::shared_ptr<LoadedPlan>& loaded, std::vector<Plan> others,
                       Countdown& countdown, CompileReport& report) {
  const Stopwatch watch;
  run_once(loaded, countdown);
  for (Plan& plan : others) {
    try {
      run_once(std::make_shared<const LoadedPlan>(std::move(plan), loaded), countdown);
    } catch (const OutOfMemory& error) {
      report.notes.push_back("kernels for other shapes are built at their first use: " +
                             error.message());
    }
  }
  LoadedPlan::Stored stored = loaded->store_programs();
  report.kernels.unkept += stored.unkept;
  std::ranges::move(stored.problems, std::back_inserter(report.notes));
  report.times.warm_up_ms = watch.milliseconds();
}

void fill_report(const LoadedPlan& loaded, CompileReport& report) {
  const BuildReport& builds = loaded.builds();
  report.kernels.from_memory = builds.kernels_from_memory;
  report.kernels.from_disk = builds.kernels_from_disk;
  report.kernels.built = builds.kernels_built;
  report.times.build_ms = builds.build_ms;
  report.times.upload_ms = loaded.upload_ms();
  // One folder that is not believed is the reason of many.
  std::set<std::string> told;
  for (const std::string& dropped : builds.dropped) {
    if (told.insert(dropped).second) report.notes.push_back(dropped);
  }
  report.memory.weight_bytes =
      loaded.shared_bytes() > 0 ? loaded.own_bytes() : weight_memory(loaded.plan());
  report.memory.streamed_bytes = streamed_bytes(loaded.plan());
  report.memory.shared_weight_bytes = loaded.shared_bytes();
  report.memory.largest_live_bytes = loaded.plan().largest_live.all;
  report.memory.largest_live_activation_bytes = loaded.plan().largest_live.activations;
  report.memory.largest_live_workspace_bytes = loaded.plan().largest_live.workspace;
  report.memory.activation_bytes = block_bytes(loaded.plan(), PlannedBlock::Kind::activations);
  report.memory.workspace_bytes = block_bytes(loaded.plan(), PlannedBlock::Kind::workspace);
}

void finish_loading(const std::shared_ptr<LoadedPlan>& loaded, std::vector<Plan> others,
                    Countdown& countdown, const std::function<void(const Message&)>& log,
                    CompileReport& report) {
  fill_report(*loaded, report);
  if (loaded->has_librarys_kernels()) {
    report.notes.push_back("a library computes some steps (" + setting("plan_text", "why") +
                           " names them): it builds its own kernels in each process, and Morton's "
                           "cache does not keep them");
  }
  if (loaded->wants_storing() || loaded->has_librarys_kernels()) {
    store_after_a_run(loaded, std::move(others), countdown, report);
  }
  countdown.all_done();
  if (report.kernels.built > 0) {
    for (const auto& device : loaded->devices()) device->programs().keep_within_limit();
  }
  if (!log) return;
  for (const auto& note : report.notes) log(note);
}

void load(Plan plan, std::vector<Plan> others, const Observer& observer, CompiledState& state) {
  OpenClDevices opened;
  for (const Device& device : state.devices) opened.add(Inside::of(device));
  if (state.unkept == CompileOptions::Unkept::refuse && state.devices.size() == 1 &&
      !is_built(plan, *Inside::of(state.devices.front()))) {
    const std::string why = Inside::of(state.devices.front())->programs().why_not_kept();
    if (!why.empty()) require_may_go_unkept(state, why);
  }
  Countdown countdown(observer.progress, plan, others);
  WorkerBuilds workers = build_by_workers(
      plan, others, opened, [&] { countdown.one_done(); }, observer.stop);
  if (!workers.unkept.empty()) require_may_go_unkept(state, workers.unkept);
  int counted = workers.kernels;
  const auto loaded = std::make_shared<LoadedPlan>(std::move(plan), std::move(opened), [&] {
    require_wanted(observer.stop);
    if (counted-- <= 0) countdown.one_done();
  });
  require_wanted(observer.stop);
  std::ranges::move(workers.problems, std::back_inserter(state.report.notes));
  state.report.kernels.compiled_objects = workers.compiled;
  finish_loading(loaded, std::move(others), countdown, observer.log, state.report);
  if (state.report.kernels.unkept > 0) {
    require_may_go_unkept(state, state.report.notes.back());
  }
  state.report.times.build_ms += workers.build_ms;
  state.loaded = loaded;
  state.others.family = loaded;
}

}  // namespace morton::api
