// SPDX-License-Identifier: Apache-2.0
#include "api/compile/driver_refusals.hpp"

#include <algorithm>

#include "api/cache/tried_kernels.hpp"
#include "api/inside.hpp"
#include "device/open/opencl_device.hpp"
#include "plan/policy/plan_options.hpp"

namespace morton::api {
namespace {

/// A driver that refuses more than so many is broken.
constexpr std::size_t kMostRefusals = 8;

bool is_asked_for(const std::string& kernel, const PlanOptions& options) {
  return std::ranges::any_of(options.use, [&](const auto& one) { return one.second == kernel; });
}

std::string line_at(const std::string& text, std::size_t begin) {
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// The first line without what it is said of, and of a compiler's log behind it the first error.
std::string in_short(const std::string& text) {
  std::string line = line_at(text, text.find(": ") + 2);
  const std::size_t error = text.find("error", text.find('\n'));
  if (error == std::string::npos) return line;
  const std::size_t begin = text.find_first_not_of(' ', text.rfind('\n', error) + 1);
  return line + ": " + line_at(text, begin);
}

}  // namespace

std::string DriverRefusals::Refusal::line() const {
  return "the driver refuses " + kernel.kernel + ": " + why;
}

void DriverRefusals::watch(const Plan& plan) {
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) {
      const KernelLaunch* launch = step.launch();
      if (launch == nullptr) continue;
      const std::string& function = plan.instances[launch->instance].function;
      kernels_[function] = {step.kernel, step.tunables};
      if (shares_launch(step)) shared_launches_.insert(function);
    }
  }
}

void DriverRefusals::note_in(Plan& plan) const {
  if (!refused_together_) return;
  plan.left_out.push_back("the driver refuses a launch that kernels share (" +
                          refused_together_->kernel.kernel + "): " + refused_together_->why +
                          "; each kernel has a launch of its own");
}

void DriverRefusals::leave_out(const RefusedKernels& error) {
  const auto together = std::ranges::find_if(
      error.functions(), [&](const auto& function) { return shared_launches_.contains(function); });
  if (together != error.functions().end()) {
    if (refused_together_) throw error;
    refused_together_ = {kernels_.at(*together), in_short(error.what())};
    return;
  }
  for (const std::string& function : error.functions()) {
    const auto found = kernels_.find(function);
    if (found == kernels_.end()) throw error;
    const SuspectKernel& suspect = found->second;
    const bool again = std::ranges::any_of(
        refusals_, [&](const Refusal& one) { return one.kernel.kernel == suspect.kernel; });
    if (again || refusals_.size() >= kMostRefusals ||
        is_asked_for(suspect.kernel, job_.policy->options())) {
      throw error;
    }
    refusals_.push_back({suspect, in_short(error.what())});
    // What was said of it beside others is no fault of theirs.
    refused_together_.reset();
  }
}

void DriverRefusals::explain(const UnsupportedError& error) const {
  if (refusals_.empty()) return;
  DeviceError explained(history() + "\nno other kernel is left: " + error.message());
  explained.set_rejected(error.rejected());
  throw explained;
}

Job DriverRefusals::without() const {
  Job job = job_;
  if (refused_together_) job.policy = std::make_shared<const KernelPolicy>(job.policy->apart());
  if (refusals_.empty()) return job;
  std::vector<std::string> names;
  for (const Refusal& refusal : refusals_) names.push_back(refusal.kernel.kernel);
  job.policy = std::make_shared<const KernelPolicy>(job.policy->without(names));
  return job;
}

void DriverRefusals::finish(CompiledState& state) const {
  if (refusals_.empty()) return;
  OpenClDevice& device = *Inside::of(state.devices.front());
  CompileReport& report = state.report;
  const Catalogue& catalogue = job_.policy->catalogue();
  TunedData verdicts;
  for (const Refusal& refusal : refusals_) {
    report.fallbacks.push_back(refusal.line() + "; " + replaced_from_now_on());
    report.notes.push_back(report.fallbacks.back());
    add_verdict(refusal.kernel, "the driver refuses it: " + refusal.why, device.info(), catalogue,
                verdicts);
  }
  if (device.cache_folder().empty()) return;
  try {
    TriedKernels(device.cache_folder(), device.info()).add(verdicts, catalogue);
  } catch (const Error& error) {
    report.notes.push_back("what the driver refuses cannot be kept, and is tried anew: " +
                           error.message());
  }
}

std::string DriverRefusals::history() const {
  std::string text;
  for (const Refusal& refusal : refusals_) {
    text += (text.empty() ? "" : "\n") + refusal.line();
  }
  return text;
}

}  // namespace morton::api
