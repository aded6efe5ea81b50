// SPDX-License-Identifier: Apache-2.0
#include "run/loaded_plan.hpp"

#include <chrono>

#include "base/error.hpp"
#include "device/transfer.hpp"
#include "launch/launch.hpp"
#include "layout/arrangement.hpp"

namespace morton {

LoadedPlan::LoadedPlan(Plan plan, std::shared_ptr<OpenClDevice> device)
    : plan_(std::move(plan)), device_(std::move(device)) {
  build_programs();
  const auto start = std::chrono::steady_clock::now();
  with_device_errors("uploading the weights", device_->info(), [&] { upload_constants(); });
  with_device_errors("preparing the weights", device_->info(), [&] { run_load_steps(); });
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  upload_ms_ = elapsed.count();
}

void LoadedPlan::build_programs() {
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
    programs_.push_back(device_->programs().get(source, functions, builds_));
  }
}

void LoadedPlan::upload_constants() {
  constants_.resize(plan_.values.size());
  blocks_.resize(plan_.blocks.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (plan_.blocks[b].kind != PlannedBlock::Kind::weights) continue;
    blocks_[b] = device_->memory().allocate(plan_.blocks[b].bytes);
  }
  const cl::CommandQueue queue = device_->make_queue(OpenClDevice::QueueKind::plain);
  std::vector<std::byte> packed;
  for (std::size_t v = 0; v < plan_.values.size(); ++v) {
    Value& value = plan_.values[v];
    if (!is_fixed(value)) continue;
    const Block& block = blocks_[static_cast<std::size_t>(value.block)];
    constants_[v] = block.slice(value.offset_bytes, std::max<std::int64_t>(value.bytes, 1));
    if (value.kind == Value::Kind::derived) continue;
    packed.assign(static_cast<std::size_t>(value.bytes), std::byte{0});
    if (value.view) {
      pack_through(value.data, *value.view, value.view_names, value.arrangement, packed);
    } else {
      pack(value.data, value.arrangement, packed);
    }
    write_buffer(queue, device_->info(), constants_[v], 0, packed);
  }
  queue.finish();
}

void LoadedPlan::run_load_steps() {
  if (plan_.load_steps.empty()) return;
  const cl::CommandQueue queue = device_->make_queue(OpenClDevice::QueueKind::plain);
  std::vector<LaunchedStep> launched;  // kernels live until the queue is done with them
  for (const Step& step : plan_.load_steps) {
    const auto& instance = plan_.instances[static_cast<std::size_t>(step.instance)];
    launched.emplace_back(step, instance.function, program_of(step.instance),
                          [&](int value) -> const cl::Buffer& { return constant(value); });
    launched.back().enqueue(queue, nullptr);
  }
  queue.finish();
}

const cl::Program& LoadedPlan::program_of(int instance) const {
  const int program = program_of_instance_[static_cast<std::size_t>(instance)];
  return programs_[static_cast<std::size_t>(program)]->program;
}

const cl::Buffer& LoadedPlan::constant(int value) const {
  return constants_[static_cast<std::size_t>(value)];
}

bool LoadedPlan::wants_storing() const {
  for (const auto& program : programs_) {
    if (!program->stored) return true;
  }
  return false;
}

std::vector<std::string> LoadedPlan::store_programs() {
  std::vector<std::string> problems;
  for (const auto& program : programs_) {
    if (program->stored) continue;
    std::string problem = device_->programs().store(*program);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace morton
