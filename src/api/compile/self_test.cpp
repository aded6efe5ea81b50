// SPDX-License-Identifier: Apache-2.0
#include "api/compile/self_test.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "api/compile/compiled_state.hpp"
#include "api/compile/kernel_trial.hpp"
#include "api/compile/untried.hpp"
#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::api {
namespace {

/// How often kernels are replaced before the reference itself is doubted.
constexpr int kMostRounds = 8;
/// What every verdict of a self-test begins with.
constexpr const char* kFound = "the self-test found it wrong: layer ";

/// A kernel that is left out, for the layer that it was found in.
struct Refusal {
  SuspectKernel kernel;
  std::string where;  ///< layer and element
};

/// Compiles and tries until nothing is wrong.
class SelfTest {
 public:
  SelfTest(const Job& job, const Device& device) : job_(job), device_(device) {}

  [[nodiscard]] std::shared_ptr<CompiledState> run() {
    for (int round = 0; round < kMostRounds; ++round) {
      std::shared_ptr<CompiledState> state = compiled();
      const std::vector<WrongLayer> wrong = wrong_layers_of(state);
      if (wrong.empty()) {
        if (refusals_.size() > 1) acquit(state);
        finish(*state);
        return state;
      }
      for (const WrongLayer& layer : wrong) refuse(layer, *state);
    }
    throw DeviceError(history() + "\nthese were replaced, and layers are wrong still; " +
                      way_out());
  }

 private:
  static Message way_out() {
    return setting("compare_layers") + " shows more, and " + setting("self_test", "off") +
           " runs the model nevertheless";
  }

  std::shared_ptr<CompiledState> compiled() {
    try {
      Job without = job_;
      without.policy = std::make_shared<const KernelPolicy>(job_.policy->without(left_out_));
      return compile_untried(without, device_);
    } catch (const Error& error) {
      if (refusals_.empty()) throw;
      throw DeviceError(history() + "\nno other kernel is left: " + error.message() + "; " +
                        way_out());
    }
  }

  static TriedKernels tried_on(const CompiledState& state) {
    OpenClDevice& device = *Inside::of(state.devices.front());
    return {device.cache_folder(), device.info()};
  }

  std::vector<WrongLayer> wrong_layers_of(const std::shared_ptr<CompiledState>& state) {
    const Stopwatch watch;
    const Trial trial = try_kernels(state, tried_on(*state));
    kernels_ += trial.kernels;
    undecided_ = trial.undecided;
    elapsed_ms_ += watch.milliseconds();
    right_.insert(trial.right.begin(), trial.right.end());
    return trial.wrong;
  }

  /// Leaves out the likeliest kernel of a wrong layer; where that did not help before, all of them.
  /// Kernels that are asked for come last, since nothing may take their place.
  void refuse(const WrongLayer& layer, const CompiledState& state) {
    const bool again = !wrong_before_.insert(layer.name).second;
    std::vector<SuspectKernel> suspects = layer.suspects;
    std::ranges::stable_partition(
        suspects, [&](const SuspectKernel& suspect) { return !asking_for(suspect.kernel); });
    for (const SuspectKernel& suspect : suspects) {
      if (!is_left_out(suspect.kernel)) {
        refusals_.push_back({suspect, "'" + layer.name + "', " + layer.first_wrong});
        device_name_ = state.devices.front().name();
        left_out_.push_back(suspect.kernel);
        require_not_asked_for(refusals_.back());
      }
      if (!again) return;
    }
  }

  [[nodiscard]] bool is_left_out(const std::string& kernel) const {
    return contains(left_out_, kernel) || contains(job_.policy->options().exclude, kernel);
  }

  /// The setting that asks for a kernel, or nothing.
  [[nodiscard]] std::optional<Message> asking_for(const std::string& kernel) const {
    for (const auto& [family, name] : job_.policy->options().use) {
      if (name == kernel) return setting("use", family + "=" + name);
    }
    return std::nullopt;
  }

  void require_not_asked_for(const Refusal& refusal) const {
    if (const auto asking = asking_for(refusal.kernel.kernel)) {
      throw DeviceError(line_of(refusal) + "; it is asked for (" + *asking + "); " + way_out());
    }
  }

  /// Takes back, the earliest first, what need not be left out for all to be right. What then
  /// computes nothing counts as untried. Where the model cannot be compiled or run with a kernel,
  /// that stays left out: there is a good result without it.
  void acquit(std::shared_ptr<CompiledState>& state) {
    for (std::size_t i = 0; i < refusals_.size() && refusals_.size() > 1;) {
      const std::vector<std::string> before = left_out_;
      std::erase(left_out_, refusals_[i].kernel.kernel);
      std::shared_ptr<CompiledState> with = right_state();
      if (with != nullptr) {
        refusals_.erase(refusals_.begin() + static_cast<std::ptrdiff_t>(i));
        state = std::move(with);
      } else {
        left_out_ = before;
        ++i;
      }
    }
  }

  /// The model without what is left out now, or null where it is wrong or cannot be.
  std::shared_ptr<CompiledState> right_state() {
    try {
      std::shared_ptr<CompiledState> state = compiled();
      return wrong_layers_of(state).empty() ? state : nullptr;
    } catch (const Error& error) {
      if (error.error_class() == ErrorClass::internal) throw;
      notes_.push_back("self-test: a kernel that was left out could not be tried again: " +
                       error.message());
      return nullptr;
    }
  }

  [[nodiscard]] std::string line_of(const Refusal& refusal) const {
    return "self-test: " + refusal.kernel.kernel + " computes wrongly on " + device_name_ +
           ": layer " + refusal.where;
  }

  [[nodiscard]] std::string history() const {
    std::string text;
    for (const Refusal& refusal : refusals_) text += (text.empty() ? "" : "\n") + line_of(refusal);
    return text;
  }

  /// Fills in the report and keeps for later processes what was found.
  void finish(CompiledState& state) {
    CompileReport& report = state.report;
    report.kernels.tried = kernels_;
    report.times.self_test_ms = elapsed_ms_;
    report.notes.insert(report.notes.end(), notes_.begin(), notes_.end());
    TriedKernels tried = tried_on(state);
    if (!tried.problem().empty()) {
      report.notes.push_back(tried.problem() + ": kernels are tried anew");
    }
    try {
      if (!right_.empty()) tried.add(right_);
      if (!refusals_.empty()) {
        const Catalogue& catalogue = job_.policy->catalogue();
        tried.add(verdicts(state, catalogue), catalogue);
      }
    } catch (const Error& error) {
      // Where the kernels are not kept either, the reason is told.
      const bool is_told = report.kernels.unkept > 0 && refusals_.empty();
      if (!is_told) {
        report.notes.push_back("what the self-test found cannot be kept: " + error.message());
      }
    }
    for (const Refusal& refusal : refusals_) {
      report.fallbacks.push_back(line_of(refusal) + "; " + replaced_from_now_on());
      report.notes.push_back(report.fallbacks.back());
    }
    if (kernels_ == 0) return;
    job_.observer.say("self-test: " + std::to_string(kernels_) +
                      " kernels tried for the first time on this device, " +
                      std::to_string(refusals_.size()) + " of them wrong, " +
                      std::to_string(undecided_) +
                      " undecided (their layers have no finite number), " +
                      std::to_string(static_cast<int>(elapsed_ms_)) + " ms");
  }

  [[nodiscard]] TunedData verdicts(const CompiledState& state, const Catalogue& catalogue) const {
    const DeviceInfo& device = Inside::of(state.devices.front())->info();
    TunedData found;
    for (const auto& [suspect, where] : refusals_) {
      add_verdict(suspect, kFound + where, device, catalogue, found);
    }
    return found;
  }

  const Job& job_;
  const Device& device_;
  std::vector<std::string> left_out_;  ///< entries
  std::vector<Refusal> refusals_;
  std::set<std::string> wrong_before_;  ///< layers
  std::set<std::string> right_;         ///< trial keys
  std::vector<Message> notes_;
  std::string device_name_;
  int kernels_ = 0;
  int undecided_ = 0;  ///< in the last trial
  double elapsed_ms_ = 0.0;
};

}  // namespace

std::shared_ptr<CompiledState> compile_tried(const Job& job, const Device& device) {
  return SelfTest(job, device).run();
}

void add_fallbacks(const Plan& plan, CompileReport& report) {
  std::set<std::string> told;
  for (const std::string& line : plan.left_out) {
    if (!told.insert(line).second) continue;
    report.fallbacks.push_back(line);
    report.notes.push_back(line);
  }
  for (const Step& step : plan.steps) {
    if (!is_on_host(step)) continue;
    report.fallbacks.push_back("'" + step.name + "' is computed on the host, by " + step.kernel +
                               " (" + setting("exclude", step.kernel) +
                               ", when the model is compiled, leaves it to the device)");
  }
}

void take_fallbacks(const Plan& plan, CompileOptions::Fallback wish, CompileReport& report) {
  add_fallbacks(plan, report);
  if (wish == CompileOptions::Fallback::report || report.fallbacks.empty()) return;
  Message text;
  for (const Message& fallback : report.fallbacks) text += "\n  " + fallback;
  throw UnsupportedError(setting("fallback", "refuse") +
                         ": the model falls back to another way of computing:" + text);
}

}  // namespace morton::api
