// SPDX-License-Identifier: Apache-2.0
#include "contender.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "morton/error.hpp"
#include "options.hpp"
#include "statistics.hpp"
#include "terminal.hpp"

namespace morton::cli {
namespace {

/// A sample of the host's clock lasts this long, so that the final wait does not count.
constexpr double kSampleMs = 20.0;
constexpr int kMostRuns = 20000;
/// A device's clock is read after this many runs in a row, once it has woken up.
constexpr int kRunsBeforeDeviceClock = 3;

std::string size_text(const std::array<std::int64_t, 3>& size) {
  std::string text = std::to_string(size[0]);
  const std::size_t used = size[2] != 1 ? 3 : size[1] != 1 ? 2 : 1;
  for (std::size_t i = 1; i < used; ++i) text += "x" + std::to_string(size[i]);
  return text;
}

/// Options under which nothing but `kernel` computes the family.
CompileOptions only(const KernelInfo& kernel, const std::vector<KernelInfo>& family,
                    CompileOptions options) {
  options.use[kernel.family] = kernel.name;
  options.precision = kernel.precision;
  for (const KernelInfo& other : family) {
    // A recipe is free in its choice of entries.
    const bool free =
        kernel.kind == KernelInfo::Kind::recipe && other.kind == KernelInfo::Kind::entry;
    if (other.name != kernel.name && !free) options.exclude.push_back(other.name);
  }
  return options;
}

/// What the plan says of this kernel, out of a message that lists several.
std::string reason_in(const std::string& message, const std::string& kernel) {
  // What is wrong with an option concerns all kernels.
  if (message.starts_with("--local")) return message.substr(0, message.find('\n'));
  const std::string head = "\n  " + kernel + ": ";
  const std::size_t at = message.find(head);
  if (at == std::string::npos) return message;
  const std::size_t start = at + head.size();
  return message.substr(start, message.find('\n', start) - start);
}

/// What is wrong with the contender's results; empty when nothing is.
std::string complaint_of(Contender& contender,
                         const std::vector<const Expectation*>& expectations) {
  for (const Expectation* expectation : expectations) {
    const auto result = contender.check(*expectation);
    if (!result.complaint.empty()) return "wrong result: " + result.complaint;
  }
  return "";
}

/// Lets the contender take part if its results are right.
void admit(std::unique_ptr<Contender> contender,
           const std::vector<const Expectation*>& expectations, Field& field) {
  std::string complaint;
  try {
    complaint = complaint_of(*contender, expectations);
  } catch (const DeviceError& error) {
    complaint = error.what();
  }
  if (complaint.empty()) {
    field.contenders.push_back(std::move(contender));
  } else {
    field.failed.push_back({contender->name(), complaint});
  }
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

double unit_roundoff_of(const std::vector<StepInfo>& steps) {
  double unit = 0x1p-24;
  for (const StepInfo& step : steps) {
    if (step.formats.find("bf16") != std::string::npos) return 0x1p-8;
    if (step.formats.find("tf32") != std::string::npos) unit = 0x1p-11;
    if (step.formats.find("f16") != std::string::npos) unit = 0x1p-11;
  }
  return unit;
}

Contender::Contender(std::string name, const CompiledModel& model)
    : name_(std::move(name)), session_(model), steps_(model.steps()) {}

Expectation::Comparison Contender::check(const Expectation& expectation) {
  const std::vector<NamedTensor> outputs = session_.run(expectation.inputs());
  const auto result = expectation.compare(outputs.front().tensor, unit_roundoff_of(steps_));
  error_ = std::max(error_, result.error);
  return result;
}

double Contender::run_ms(int count) {
  const Stopwatch watch;
  for (int i = 0; i + 1 < count; ++i) session_.enqueue();
  session_.enqueue().wait();
  return watch.ms() / count;
}

std::optional<double> Contender::last_kernel_ms() {
  const std::vector<StepTime> times = session_.step_times();
  double sum_us = 0.0;
  for (std::size_t s = 0; s < times.size(); ++s) {
    if (steps_[s].role == StepInfo::Role::repack) continue;
    if (!times[s].device_us) return std::nullopt;
    sum_us += *times[s].device_us;
  }
  return sum_us / 1e3;
}

void Contender::sample() {
  using Profiling = SessionOptions::Profiling;
  if (count_ == 0) {
    const double once_ms = run_ms(1);
    count_ = static_cast<int>(std::clamp(std::ceil(kSampleMs / once_ms), 1.0, double{kMostRuns}));
  }
  if (count_ > 1) {
    session_.set_profiling(Profiling::off);
    (void)run_ms(1);  // other contenders have had the caches since
    double ms = run_ms(count_);
    // The first run was slower than those that follow.
    while (ms * count_ < kSampleMs && count_ < kMostRuns) {
      count_ = std::min(kMostRuns, 1 + static_cast<int>(1.2 * kSampleMs / ms));
      ms = run_ms(count_);
    }
    whole_ms_.push_back(ms);
  }
  session_.set_profiling(Profiling::on);
  // A run that lasts long enough serves both clocks.
  const double ms = run_ms(count_ > 1 ? kRunsBeforeDeviceClock : 1);
  if (count_ == 1) whole_ms_.push_back(ms);
  if (const auto kernel = last_kernel_ms()) kernel_ms_.push_back(*kernel);
}

std::string Contender::work_group() const {
  std::string text;
  for (const StepInfo& step : steps_) {
    if (step.role == StepInfo::Role::repack) continue;
    text += (text.empty() ? "" : ", ") + size_text(step.local);
  }
  return text;
}

std::string Contender::tunables() const {
  std::string text;
  for (const StepInfo& step : steps_) {
    if (step.role == StepInfo::Role::repack || step.tunables.empty()) continue;
    text += text.empty() ? "" : ",";
    for (const auto& [name, value] : step.tunables) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    }
  }
  return text;
}

bool Contender::runs(const std::string& entry) const {
  return std::ranges::any_of(steps_, [&](const StepInfo& step) { return step.kernel == entry; });
}

namespace {

/// Adds the kernel to the field, or the reason why it does not take part.
void add_kernel(const KernelInfo& kernel, const CompileOptions& options,
                const SingleProblem& problem, const Device& device,
                const std::vector<const Expectation*>& expectations, Field& field) {
  std::unique_ptr<Contender> contender;
  try {
    contender =
        std::make_unique<Contender>(kernel.name, compile_model(problem.model, device, options));
  } catch (const UnsupportedError& error) {
    field.rejected.push_back({kernel.name, reason_in(error.what(), kernel.name)});
    return;
  } catch (const UsageError& error) {
    field.rejected.push_back({kernel.name, reason_in(error.what(), kernel.name)});
    return;
  } catch (const DeviceError& error) {
    field.failed.push_back({kernel.name, error.what()});
    return;
  }
  if (kernel.kind == KernelInfo::Kind::entry && !contender->runs(kernel.name)) {
    field.rejected.push_back({kernel.name, "the plan found no way to it from this problem"});
    return;
  }
  admit(std::move(contender), expectations, field);
}

}  // namespace

Field make_field(const SingleProblem& problem, const Device& device, const CompileOptions& options,
                 Selection selection, const std::vector<const Expectation*>& expectations) {
  Field field;
  std::vector<KernelInfo> kernels = kernels_of(problem.family, options.catalogue_files);
  CompileOptions asked = options;
  if (const auto use = asked.use.find(problem.family); use != asked.use.end()) {
    // "naive" is short for "gemm.naive".
    const std::string full = problem.family + "." + use->second;
    const auto has = [&](const std::string& name) {
      return std::ranges::any_of(kernels, [&](const KernelInfo& k) { return k.name == name; });
    };
    if (!has(use->second) && has(full)) use->second = full;
    if (!has(use->second)) {
      std::string known;
      for (const KernelInfo& kernel : kernels) known += "\n" + kernel.name;
      throw UsageError(fmt::format(
          "--use {}={}: the catalogue has no such kernel or recipe of this family; it has:{}",
          problem.family, use->second, known));
    }
  }
  const auto wanted = asked.use.find(problem.family);
  if (selection == Selection::as_asked && wanted == asked.use.end()) {
    const CompiledModel model = compile_model(problem.model, device, options);
    const std::string name = computing_kernels(model.steps());
    admit(std::make_unique<Contender>(name, model), expectations, field);
    return field;
  }
  Progress progress("building and checking");
  std::size_t done = 0;
  bool found = false;
  for (const KernelInfo& kernel : kernels) {
    progress.update(static_cast<double>(done++) / static_cast<double>(kernels.size()));
    const bool excluded = std::ranges::find(options.exclude, kernel.name) != options.exclude.end();
    if (excluded || (wanted != asked.use.end() && wanted->second != kernel.name)) continue;
    found = true;
    add_kernel(kernel, only(kernel, kernels, asked), problem, device, expectations, field);
  }
  if (found && (!field.contenders.empty() || !field.failed.empty())) return field;
  if (found) {
    std::string reasons;
    for (const auto& [name, why] : field.rejected) reasons += "\n" + name + ": " + why;
    throw UsageError(
        fmt::format("{}: no kernel that was asked for can compute it:{}", problem.title, reasons));
  }
  std::string known;
  for (const KernelInfo& kernel : kernels) known += "\n" + kernel.name;
  throw UsageError(
      fmt::format("no kernel of family {} is left to measure{}{}", problem.family,
                  known.empty() ? "; the catalogue has none" : "; the catalogue has:", known));
}

}  // namespace morton::cli
