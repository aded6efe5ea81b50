// SPDX-License-Identifier: Apache-2.0
#include "run/loaded_plan.hpp"

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "device/given_program.hpp"
#include "device/transfer.hpp"
#include "launch/library.hpp"
#include "layout/arrangement.hpp"

namespace morton {
namespace {

/// The slot whose steps launch each instance; those of no step are slot 0's.
std::vector<int> slots_of_instances(const Plan& plan) {
  std::vector<int> slots(plan.instances.size(), 0);
  std::vector<const Step*> all;
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) all.push_back(&step);
  }
  for (const Step* step : all) {
    if (step->instance >= 0) slots[static_cast<std::size_t>(step->instance)] = step->slot;
  }
  return slots;
}

}  // namespace

LoadedPlan::LoadedPlan(Plan plan, std::vector<std::shared_ptr<OpenClDevice>> devices)
    : plan_(std::move(plan)), devices_(std::move(devices)) {
  if (plan_.devices.size() != devices_.size()) {
    throw InternalError("run: a plan for " + std::to_string(plan_.devices.size()) +
                        " devices is loaded on " + std::to_string(devices_.size()));
  }
  load({});
}

LoadedPlan::LoadedPlan(Plan plan, std::shared_ptr<OpenClDevice> device, const CompiledAhead& ahead)
    : plan_(std::move(plan)), devices_{std::move(device)} {
  load(ahead);
}

void LoadedPlan::load(const CompiledAhead& ahead) {
  build_programs(ahead);
  const auto start = std::chrono::steady_clock::now();
  upload_constants(ahead);
  run_load_steps();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  upload_ms_ = elapsed.count();
}

void LoadedPlan::build_programs(const CompiledAhead& ahead) {
  const std::vector<int> slots = slots_of_instances(plan_);
  program_of_instance_.assign(plan_.instances.size(), -1);
  for (const auto& group : plan_.programs) {
    std::string source;
    std::vector<std::string> functions;
    for (const int instance : group) {
      const InstanceSource& text = plan_.instances[static_cast<std::size_t>(instance)];
      source += text.text;
      functions.push_back(text.function);
      program_of_instance_[static_cast<std::size_t>(instance)] = static_cast<int>(programs_.size());
    }
    const int slot = group.empty() ? 0 : slots[static_cast<std::size_t>(group.front())];
    if (ahead.binaries.empty()) {
      programs_.push_back({device(slot).programs().get(source, functions, builds_), slot});
      continue;
    }
    const std::string_view binary = ahead.binaries[programs_.size()];
    programs_.push_back({program_of_binary(device(slot), functions, binary), slot});
    builds_.kernels_from_disk += static_cast<int>(functions.size());
  }
}

void LoadedPlan::upload_constants(const CompiledAhead& ahead) {
  constants_.resize(plan_.values.size());
  blocks_.resize(plan_.blocks.size());
  for (int slot = 0; slot < static_cast<int>(devices_.size()); ++slot) {
    with_device_errors("uploading the weights", device(slot).info(), [&] {
      for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const PlannedBlock& block = plan_.blocks[b];
        if (block.kind != PlannedBlock::Kind::weights || block.slot != slot) continue;
        blocks_[b] = device(slot).memory().allocate(block.bytes);
      }
      const cl::CommandQueue queue = device(slot).make_queue(OpenClDevice::QueueKind::plain);
      for (std::size_t v = 0; v < plan_.values.size(); ++v) {
        Value& value = plan_.values[v];
        if (!is_fixed(value) || value.slot != slot) continue;
        if (ahead.weights.empty()) {
          upload(value, v, queue);
        } else {
          upload_packed(value, v, ahead.weights[static_cast<std::size_t>(value.block)], queue);
        }
      }
      queue.finish();
    });
  }
}

void LoadedPlan::upload(Value& value, std::size_t index, const cl::CommandQueue& queue) {
  const Block& block = blocks_[static_cast<std::size_t>(value.block)];
  constants_[index] = block.slice(value.offset_bytes, std::max<std::int64_t>(value.bytes, 1));
  if (value.kind == Value::Kind::derived) return;
  std::vector<std::byte> packed(static_cast<std::size_t>(value.bytes), std::byte{0});
  if (value.view) {
    pack_through(value.data, *value.view, value.view_names, value.arrangement, packed);
  } else {
    pack(value.data, value.arrangement, packed);
  }
  write_buffer(queue, device(value.slot).info(), constants_[index], 0, packed);
}

void LoadedPlan::upload_packed(const Value& value, std::size_t index, std::string_view block,
                               const cl::CommandQueue& queue) {
  const Block& memory = blocks_[static_cast<std::size_t>(value.block)];
  constants_[index] = memory.slice(value.offset_bytes, std::max<std::int64_t>(value.bytes, 1));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(block));
  write_buffer(queue, device(value.slot).info(), constants_[index], 0,
               bytes.subspan(static_cast<std::size_t>(value.offset_bytes),
                             static_cast<std::size_t>(value.bytes)));
}

std::string LoadedPlan::program_binary(std::size_t program) const {
  const Program& one = programs_[program];
  return binary_of(device(one.slot), *one.cached);
}

std::string LoadedPlan::weights_in(std::size_t block) const {
  const PlannedBlock& planned = plan_.blocks[block];
  std::string content(static_cast<std::size_t>(planned.bytes), '\0');
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(content));
  with_device_errors("reading the weights", device(planned.slot).info(), [&] {
    const cl::CommandQueue queue = device(planned.slot).make_queue(OpenClDevice::QueueKind::plain);
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      const Value& value = plan_.values[v];
      if (!is_fixed(value) || value.block != static_cast<int>(block)) continue;
      read_buffer(queue, device(planned.slot).info(), constants_[v], 0,
                  bytes.subspan(static_cast<std::size_t>(value.offset_bytes),
                                static_cast<std::size_t>(value.bytes)));
    }
  });
  return content;
}

void LoadedPlan::run_load_steps() {
  for (int slot = 0; slot < static_cast<int>(devices_.size()); ++slot) {
    with_device_errors("preparing the weights", device(slot).info(), [&] {
      const cl::CommandQueue queue = device(slot).make_queue(OpenClDevice::QueueKind::plain);
      // Kernels live until the queue is done with them.
      std::vector<std::unique_ptr<LaunchedStep>> launched;
      for (const Step& step : plan_.load_steps) {
        if (step.slot != slot) continue;
        launched.push_back(
            launch(step, [&](int value) -> const cl::Buffer& { return constant(value); }));
        launched.back()->enqueue(queue, nullptr);
      }
      queue.finish();
    });
  }
}

std::unique_ptr<LaunchedStep> LoadedPlan::launch(const Step& step,
                                                 const BufferOf& buffer_of) const {
  if (step.kind == Step::Kind::library) {
    return launch_library(step, device(step.slot), buffer_of);
  }
  const auto instance = static_cast<std::size_t>(step.instance);
  const auto program = static_cast<std::size_t>(program_of_instance_[instance]);
  return launch_kernel(step, plan_.instances[instance].function, programs_[program].cached->program,
                       device(step.slot), buffer_of);
}

const cl::Buffer& LoadedPlan::constant(int value) const {
  return constants_[static_cast<std::size_t>(value)];
}

bool LoadedPlan::wants_storing() const {
  return std::any_of(programs_.begin(), programs_.end(),
                     [](const Program& program) { return !program.cached->stored; });
}

bool LoadedPlan::has_librarys_kernels() const {
  return std::any_of(plan_.steps.begin(), plan_.steps.end(), [](const Step& step) {
    return step.kind == Step::Kind::library && step.place == Step::Place::device;
  });
}

std::vector<std::string> LoadedPlan::store_programs() {
  std::vector<std::string> problems;
  for (const auto& program : programs_) {
    if (program.cached->stored) continue;
    std::string problem = device(program.slot).programs().store(*program.cached);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace morton
