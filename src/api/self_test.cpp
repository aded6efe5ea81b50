// SPDX-License-Identifier: Apache-2.0
#include "api/self_test.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>

#include "api/compiled_state.hpp"
#include "api/kernel_trial.hpp"
#include "api/planning.hpp"
#include "base/error.hpp"

namespace morton {
namespace {

using Clock = std::chrono::steady_clock;

/// How often kernels are replaced before the reference itself is doubted.
constexpr int kMostRounds = 8;
/// What every verdict of a self-test begins with, by which plans' rejections tell it.
constexpr const char* kFound = "the self-test found it wrong: layer ";

/// Compiles and tries until nothing is wrong.
class SelfTest {
 public:
  SelfTest(const Compile& compile, const CompileOptions& given)
      : compile_(compile), given_(given), options_(given) {}

  [[nodiscard]] std::shared_ptr<CompiledState> run() {
    for (int round = 0; round < kMostRounds; ++round) {
      std::shared_ptr<CompiledState> state = compiled();
      state->options = given_;
      OpenClDevice& device = *state->devices.front().implementation();
      TriedKernels tried(device.cache_folder(), device.info());
      const auto start = Clock::now();
      const Trial trial = try_kernels(state, tried);
      const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
      kernels_ += trial.kernels;
      elapsed_ms_ += elapsed.count();
      if (trial.wrong.empty()) {
        keep(trial, *state, tried);
        return state;
      }
      exclude(trial.wrong, device.info());
    }
    throw DeviceError(history() + "\nthese were replaced, and the layer is still wrong; " +
                      kWayOut);
  }

 private:
  static constexpr const char* kWayOut =
      "`morton compare MODEL --layers` shows more, and --self-test off runs the model nevertheless";

  std::shared_ptr<CompiledState> compiled() {
    try {
      return compile_(options_);
    } catch (const Error& error) {
      if (wrong_.empty()) throw;
      throw DeviceError(history() + "\nno other kernel is left: " + error.what() + "; " + kWayOut);
    }
  }

  void exclude(const std::vector<WrongKernel>& wrong, const DeviceInfo& device) {
    for (const WrongKernel& one : wrong) {
      const std::string text = "self-test: " + one.kernel + " computes wrongly on " + device.name +
                               ": layer " + one.where;
      wrong_.emplace_back(one, text);
      for (const auto& [family, name] : given_.use) {
        if (name != one.kernel && family + "." + name != one.kernel) continue;
        throw DeviceError(text + "; it is asked for (--use " + family + "=" + name + "); " +
                          kWayOut);
      }
      const bool known = std::ranges::find(options_.exclude, one.kernel) != options_.exclude.end();
      if (!known) options_.exclude.push_back(one.kernel);
    }
  }

  [[nodiscard]] std::string history() const {
    std::string text;
    for (const auto& [wrong, line] : wrong_) text += (text.empty() ? "" : "\n") + line;
    return text;
  }

  void keep(const Trial& trial, CompiledState& state, TriedKernels& tried) {
    CompileReport& report = state.report;
    report.kernels_tried = kernels_;
    report.self_test_ms = elapsed_ms_;
    if (!tried.problem().empty()) {
      report.notes.push_back(tried.problem() + ": kernels are tried anew");
    }
    try {
      if (!trial.right.empty()) tried.add(trial.right);
      if (!wrong_.empty()) tried.add(verdicts(state));
    } catch (const Error& error) {
      report.notes.push_back(std::string("what the self-test found cannot be kept: ") +
                             error.what());
    }
    for (const auto& [wrong, line] : wrong_) {
      report.fallbacks.push_back(line +
                                 "; another kernel takes its place, and it is refused on this "
                                 "device and driver from now on (`morton cache list` shows it, "
                                 "`morton cache clear self-test` tries it anew)");
      report.notes.push_back(report.fallbacks.back());
    }
    if (kernels_ > 0 && given_.log) {
      given_.log("self-test: " + std::to_string(kernels_) +
                 " kernels tried for the first time on this device, " +
                 std::to_string(wrong_.size()) + " of them wrong, " +
                 std::to_string(static_cast<int>(elapsed_ms_)) + " ms");
    }
  }

  [[nodiscard]] TunedData verdicts(const CompiledState& state) const {
    const Catalogue catalogue = catalogue_for(given_);
    const TunedDevice device = TunedDevice::of(state.devices.front().implementation()->info());
    TunedData found;
    for (const auto& [wrong, line] : wrong_) {
      const Entry* entry = catalogue.find_entry(wrong.kernel);
      if (entry == nullptr) continue;
      found.add(Verdict{device, wrong.kernel, entry->digest, wrong.tunables, kFound + wrong.where});
    }
    return found;
  }

  const Compile& compile_;
  const CompileOptions& given_;
  CompileOptions options_;
  std::vector<std::pair<WrongKernel, std::string>> wrong_;
  int kernels_ = 0;
  double elapsed_ms_ = 0.0;
};

}  // namespace

std::shared_ptr<CompiledState> compile_tried(const Compile& compile,
                                             const CompileOptions& options) {
  return SelfTest(compile, options).run();
}

std::vector<std::string> left_out_by_self_tests(const Plan& plan) {
  std::vector<std::string> lines;
  for (const std::string& text : plan.considered) {
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
      if (line.find(kFound) == std::string::npos) continue;
      line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace morton
