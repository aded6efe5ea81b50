// SPDX-License-Identifier: Apache-2.0
#include "device/tune_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/stopwatch.hpp"
#include "morton/tools/cache.hpp"

namespace morton::cli {
namespace {

double run_ms(Session& session) {
  const Stopwatch watch;
  session.enqueue().wait();
  return watch.milliseconds();
}

}  // namespace

std::filesystem::path findings_file(const std::string& cache_dir, const std::string& job) {
  const std::filesystem::path journals = made_cache_folder(cache_dir, "tuning/journal");
  return journals / fmt::format("{:016x}.found.json", std::hash<std::string>{}(job));
}

std::string findings_of(const std::string& text, const std::set<std::string>& kernels) {
  nlohmann::json file = nlohmann::json::parse(text);
  nlohmann::json kept = nlohmann::json::array();
  for (const auto& record : file.at("records")) {
    const auto kernel = record.at("kernel").get<std::string>();
    if (kernels.contains(kernel) || kernels.contains("batched_" + kernel)) kept.push_back(record);
  }
  file["records"] = std::move(kept);
  return file.dump();
}

Session zero_session(const Model& model, const Device& device, const CompileOptions& options) {
  Session session(compile(model, device, options));
  for (const PortInfo& port : session.model().inputs()) {
    session.set_input(port.name, Tensor::allocate(port.dtype, port.shape));
  }
  return session;
}

NetworkTimes compare_networks(Session& before, Session& after, const TuneReport& report) {
  constexpr double kMostMs = 1000.0;
  constexpr int kLeastRuns = 3;
  NetworkTimes times{run_ms(before), run_ms(after)};
  double spent_ms = 0.0;
  for (int run = 0; run < kLeastRuns || spent_ms < kMostMs; ++run) {
    const double before_ms = run_ms(before);
    const double after_ms = run_ms(after);
    spent_ms += before_ms + after_ms;
    times.before_ms = std::min(times.before_ms, before_ms);
    times.after_ms = std::min(times.after_ms, after_ms);
  }
  for (const StepInfo& step : after.model().steps()) {
    ++times.steps;
    times.tuned_steps += std::ranges::any_of(report.results, [&](const TuneResult& result) {
      return (step.kernel == result.kernel || step.kernel == "batched_" + result.kernel) &&
             step.tunables == result.tunables;
    });
  }
  return times;
}

std::optional<TunedNetwork> quickest_network(const Model& model, const Device& device,
                                             const CompileOptions& with, Session& before,
                                             const TuneReport& report,
                                             const std::filesystem::path& file) {
  /// Two measurements of the same network differ by so much.
  constexpr double kNoise = 1.01;
  std::set<std::string> planned;
  for (const StepInfo& step : before.model().steps()) planned.insert(step.kernel);
  const std::string found = read_text(file.string());
  std::optional<TunedNetwork> best;
  for (const std::string& records : {found, findings_of(found, planned)}) {
    const std::filesystem::path trial = file.string() + ".trial";
    emit(records, trial.string());
    CompileOptions options = with;
    options.tuning_files.push_back(trial.string());
    Session after = zero_session(model, device, options);
    std::filesystem::remove(trial);
    const NetworkTimes times = compare_networks(before, after, report);
    if (!best || times.after_ms * best->times.before_ms < times.before_ms * best->times.after_ms) {
      best = {records, times};
    }
    // The former plan's kernels alone are worth a try only where the others did harm.
    if (best->times.after_ms < best->times.before_ms) break;
  }
  if (best->times.after_ms > kNoise * best->times.before_ms) return std::nullopt;
  return best;
}

}  // namespace morton::cli
