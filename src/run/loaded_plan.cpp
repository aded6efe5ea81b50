// SPDX-License-Identifier: Apache-2.0
#include "run/loaded_plan.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/open/quirks.hpp"
#include "device/use/given_program.hpp"
#include "device/use/transfer.hpp"
#include "launch/library.hpp"
#include "run/host_memory.hpp"
#include "run/program_builds.hpp"
#include "run/streamed_weights.hpp"

namespace morton::run {
namespace {

/// The device whose steps launch each instance; those of no step are the first's.
Indexed<InstanceId, DeviceIndex> devices_of_instances(const Plan& plan) {
  Indexed<InstanceId, DeviceIndex> devices(plan.instances.size(), kFirstDevice);
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      if (const KernelLaunch* launch = step.launch()) devices[launch->instance] = step.device;
    }
  }
  return devices;
}

}  // namespace

LoadedPlan::LoadedPlan(Plan plan, OpenClDevices devices, const std::function<void()>& built_one)
    : plan_(std::move(plan)), devices_(std::move(devices)) {
  if (plan_.devices.size() != devices_.size()) {
    throw InternalError("run: a plan for " + std::to_string(plan_.devices.size()) +
                        " devices is loaded on " + std::to_string(devices_.size()));
  }
  load({}, built_one);
}

LoadedPlan::LoadedPlan(Plan plan, std::shared_ptr<OpenClDevice> device, const CompiledAhead& ahead)
    : plan_(std::move(plan)), devices_{std::move(device)} {
  load(ahead, {});
}

LoadedPlan::LoadedPlan(Plan plan, std::shared_ptr<const LoadedPlan> family)
    : plan_(std::move(plan)), devices_(family->devices_), family_(std::move(family)) {
  if (plan_.devices.size() != 1 || devices_.size() != 1) {
    throw InternalError("run: a plan over several devices cannot share another's programs");
  }
  load({}, {});
}

void LoadedPlan::load(const CompiledAhead& ahead, const std::function<void()>& built_one) {
  program_of_instance_.assign(plan_.instances.size(), {});
  if (family_ != nullptr) take_programs();
  build_programs(ahead, built_one);
  const Stopwatch watch;
  constants_.resize(plan_.values.size());
  is_taken_.assign(plan_.values.size(), 0);
  if (family_ != nullptr) {
    take_constants();
  } else if (ahead.weights.empty()) {
    return_unneeded_memory(block_bytes(plan_, PlannedBlock::Kind::weights));
  }
  find_load_steps();
  streamed_ = std::make_shared<StreamedWeights>(plan_, device().cache_folder().string());
  upload_constants(ahead);
  run_load_steps();
  drop_what_was_for_loading();
  streamed_->written();
  figures_.upload_ms = watch.milliseconds();
}

void LoadedPlan::take_programs() {
  std::map<std::string, InstanceId> built;
  for (const InstanceId i : family_->plan_.instances.ids()) {
    built.emplace(family_->plan_.instances[i].key, i);
  }
  programs_ = family_->programs_;
  for (const InstanceId i : plan_.instances.ids()) {
    const auto found = built.find(plan_.instances[i].key);
    if (found == built.end()) continue;
    program_of_instance_[i] = family_->program_of_instance_[found->second];
    ++builds_.kernels_from_memory;
  }
}

void LoadedPlan::build_programs(const CompiledAhead& ahead,
                                const std::function<void()>& built_one) {
  const Indexed<InstanceId, DeviceIndex> devices = devices_of_instances(plan_);
  std::vector<ProgramText> texts;  // of programs that the cache is asked for
  for (const auto& whole_group : plan_.programs) {
    std::vector<InstanceId> group;
    for (const InstanceId instance : whole_group) {
      if (!program_of_instance_[instance]) group.push_back(instance);
    }
    if (group.empty()) continue;  // the family has them all
    ProgramText text;
    for (const InstanceId instance : group) {
      const InstanceSource& one = plan_.instances[instance];
      text.source += one.text;
      text.functions.push_back(one.function);
      program_of_instance_[instance] = programs_.next_id();
    }
    const DeviceIndex index = devices[group.front()];
    if (ahead.binaries.empty()) {
      text.programs = &device(index).programs();
      texts.push_back(std::move(text));
      programs_.add({nullptr, index});
      continue;
    }
    const std::string_view binary = ahead.binaries[programs_.size()];
    programs_.add({program_of_binary(device(index), text.functions, binary), index});
    builds_.kernels_from_disk += static_cast<int>(text.functions.size());
  }
  if (texts.empty()) return;
  const bool together = std::ranges::none_of(devices_, [](const auto& one) {
    return has_effect(one->info(), QuirkEffect::one_build_at_a_time);
  });
  auto made = make_programs(texts, together ? kMostBuildThreads : 1, builds_, built_one);
  std::size_t next = 0;
  for (Program& program : programs_) {
    if (program.cached == nullptr) program.cached = std::move(made[next++]);
  }
}

std::string LoadedPlan::program_binary(std::size_t program) const {
  const InstanceId instance = plan_.programs[program].front();
  const Program& one = programs_[program_of_instance_[instance]];
  return binary_of(device(one.device), *one.cached);
}

std::string LoadedPlan::weights_in(BlockId block) const {
  const PlannedBlock& planned = plan_.blocks[block];
  std::string content(static_cast<std::size_t>(planned.bytes), '\0');
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(content));
  with_device_errors("reading the weights", device(planned.device).info(), [&] {
    const cl::CommandQueue queue =
        device(planned.device).make_queue(OpenClDevice::QueueKind::plain);
    for (const ValueId v : plan_.values.ids()) {
      const Value& value = plan_.values[v];
      if (!is_resident(value) || value.block != block) continue;
      read_buffer(queue, device(planned.device).info(), constants_[v], 0,
                  bytes.subspan(static_cast<std::size_t>(value.offset_bytes),
                                static_cast<std::size_t>(value.bytes)));
    }
  });
  return content;
}

std::unique_ptr<LaunchedStep> LoadedPlan::launch(const Step& step,
                                                 const BufferOf& buffer_of) const {
  if (step.library_call() != nullptr) {
    return launch_library(step, device(step.device), buffer_of);
  }
  const InstanceId instance = std::get<KernelLaunch>(step.action).instance;
  const Program& program = programs_[program_of_instance_[instance]];
  return launch_kernel(step, plan_.instances[instance].function, program.cached->program,
                       device(step.device), buffer_of);
}

const cl::Buffer& LoadedPlan::constant(ValueId value) const { return constants_[value]; }

bool LoadedPlan::wants_storing() const {
  return std::any_of(programs_.begin(), programs_.end(),
                     [](const Program& program) { return !program.cached->stored; });
}

bool LoadedPlan::has_librarys_kernels() const {
  return std::any_of(plan_.steps.begin(), plan_.steps.end(), [](const Step& step) {
    return step.library_call() != nullptr && !is_on_host(step);
  });
}

LoadedPlan::Stored LoadedPlan::store_programs() {
  Stored stored;
  std::map<std::string, int> without_room;  // by why a folder takes none, how many kernels
  std::map<const ProgramCache*, std::string> full;
  for (const auto& program : programs_) {
    if (program.cached->stored) continue;
    ProgramCache& cache = device(program.device).programs();
    const int count = static_cast<int>(program.cached->kernels.size());
    if (const auto known = full.find(&cache); known != full.end()) {
      without_room[known->second] += count;
      continue;
    }
    std::string problem = cache.store(*program.cached);
    if (problem.empty()) continue;
    if (const std::string why = cache.why_not_kept(); !why.empty()) {
      without_room[full[&cache] = why] += count;
    } else {
      stored.unkept += count;
      stored.problems.push_back(std::move(problem));
    }
  }
  for (const auto& [why, count] : without_room) {
    stored.unkept += count;
    stored.problems.push_back(std::to_string(count) + (count == 1 ? " kernel is" : " kernels are") +
                              " not kept, so each start builds " +
                              (count == 1 ? "it: " : "them: ") + why);
  }
  return stored;
}

}  // namespace morton::run
