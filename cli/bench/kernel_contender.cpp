// SPDX-License-Identifier: Apache-2.0
#include "bench/kernel_contender.hpp"

#include <algorithm>

#include "morton/interop.hpp"

namespace morton::cli {
namespace {

/// The operands that are larger than their extents: "lhs 24x8, dst 24x16".
std::string padding_of(const StepInfo& step) {
  std::string text;
  for (const StepOperand& operand : step.operands) {
    if (operand.padded == operand.extents) continue;
    std::string padded;
    for (const std::int64_t extent : operand.padded) {
      padded += (padded.empty() ? "" : "x") + std::to_string(extent);
    }
    text += (text.empty() ? "" : ", ") + operand.name + " " + padded;
  }
  return text;
}

bool has_operand(const StepInfo& step, DType type) {
  return std::ranges::find(step.operands, type, &StepOperand::type) != step.operands.end();
}

}  // namespace

std::string computing_kernels(const std::vector<StepInfo>& steps) {
  std::string names;
  for (const StepInfo& step : steps) {
    if (step.role == StepInfo::Role::repack) continue;
    names += (names.empty() ? "" : " + ") + step.kernel;
  }
  return names;
}

std::string work_group_of(const StepInfo& step) {
  const std::array<std::int64_t, 3>& size = step.local;
  std::string text = std::to_string(size[0]);
  const std::size_t used = size[2] != 1 ? 3 : size[1] != 1 ? 2 : 1;
  for (std::size_t i = 1; i < used; ++i) text += "x" + std::to_string(size[i]);
  return text;
}

DType stored_type_of(const std::vector<StepInfo>& steps) {
  DType type = DType::f32;
  for (const StepInfo& step : steps) {
    if (has_operand(step, DType::bf16)) return DType::bf16;
    if (has_operand(step, DType::tf32)) type = DType::tf32;
    if (has_operand(step, DType::f16)) type = DType::f16;
    for (const DType byte : {DType::u8, DType::i8}) {
      if (has_operand(step, byte)) return byte;
    }
  }
  return type;
}

double unit_roundoff_of(const std::vector<StepInfo>& steps) {
  const DType type = stored_type_of(steps);
  if (type == DType::bf16) return 0x1p-8;
  return type == DType::f16 || type == DType::tf32 ? 0x1p-11 : 0x1p-24;
}

KernelContender::KernelContender(std::string name, const CompiledModel& model, DType sums,
                                 std::size_t sets)
    : Contender(std::move(name), sets), steps_(model.steps()), sums_(sums) {
  if (sets > 1) queue_ = DeviceMemory(model.device()).make_queue();
  for (std::size_t set = 0; set < sets; ++set) {
    sessions_.emplace_back(model);
    if (queue_ != nullptr) use_queue(sessions_.back(), queue_.get());
  }
}

Tensor KernelContender::compute(const Inputs& inputs) {
  // Every session runs once: calls without packing read what it leaves packed.
  for (Session& session : sessions_) {
    for (const NamedTensor& input : inputs) session.set_input(input.name, input.tensor);
    last_ = session.enqueue();
  }
  wait();
  const std::string output = sessions_.front().model().outputs().front().name;
  return sessions_.front().get_output(output);
}

void KernelContender::enqueue(std::size_t set, Part part) {
  last_ =
      sessions_[set].enqueue(part == Part::whole ? Session::Steps::all : Session::Steps::computing);
}

void KernelContender::wait() { last_->wait(); }

bool KernelContender::has_packing() const {
  return std::ranges::any_of(
      steps_, [](const StepInfo& step) { return step.role == StepInfo::Role::repack; });
}

std::optional<double> KernelContender::device_ms(int runs) {
  using Profiling = SessionOptions::Profiling;
  // Only a queue of one session's own can tell times, and its operands are warm.
  if (queue_ != nullptr) return std::nullopt;
  Session& session = sessions_.front();
  session.set_profiling(Profiling::on);
  for (int i = 0; i < runs; ++i) enqueue(0, Part::whole);
  wait();
  const std::vector<StepTime> times = session.step_times();
  session.set_profiling(Profiling::off);
  double sum_us = 0.0;
  for (std::size_t s = 0; s < times.size(); ++s) {
    if (steps_[s].role == StepInfo::Role::repack) continue;
    if (!times[s].device_us) return std::nullopt;
    sum_us += *times[s].device_us;
  }
  return sum_us / 1e3;
}

Contender::About KernelContender::about() const {
  About about;
  about.stored = stored_type_of(steps_);
  for (const StepInfo& step : steps_) {
    about.steps.push_back(step.kernel);
    if (step.role == StepInfo::Role::repack) continue;
    about.computing.push_back(step.kernel);
    if (!step.tunables.empty()) about.tunables[step.kernel] = step.tunables;
    const std::string padding = padding_of(step);
    about.padding += (about.padding.empty() || padding.empty() ? "" : ", ") + padding;
    about.work_group += (about.work_group.empty() ? "" : ", ") + work_group_of(step);
  }
  // The peak is that of multiply-adds in f32; matrix units and instructions on bytes do more.
  about.bounded_by_peak = about.stored == DType::f32;
  return about;
}

bool KernelContender::runs(const std::string& entry) const {
  return std::ranges::any_of(steps_, [&](const StepInfo& step) { return step.kernel == entry; });
}

}  // namespace morton::cli
