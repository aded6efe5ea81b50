// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/worker_client.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "morton/tools/build.hpp"
#include "morton/tools/kernel_check.hpp"
#include "plan/measured/tuned_file.hpp"

namespace morton::tools {
namespace {

/// Drivers of large machines take their time.
constexpr double kOpenTimeoutMs = 120e3;
constexpr int kStartAttempts = 2;
constexpr double kRunsOfACandidate = 100.0;

constexpr std::pair<KernelCheck::Outcome, const char*> kOutcomes[] = {
    {KernelCheck::Outcome::right, "right"},
    {KernelCheck::Outcome::wrong, "wrong"},
    {KernelCheck::Outcome::impossible, "impossible"}};

KernelCheck kernel_check_from(const JsonReader& reader) {
  KernelCheck check;
  const std::string outcome = reader.at("outcome").text();
  for (const auto& [value, name] : kOutcomes) {
    if (outcome == name) check.outcome = value;
  }
  check.why = reader.at("why").text();
  const Environment tunables = environment_from(reader.at("tunables"));
  check.tunables = {tunables.begin(), tunables.end()};
  check.milliseconds = reader.at("milliseconds").real();
  return check;
}

}  // namespace

Json to_json(const KernelCheck& check) {
  const char* outcome = "";
  for (const auto& [value, name] : kOutcomes) {
    if (check.outcome == value) outcome = name;
  }
  return {{"outcome", outcome},
          {"why", check.why},
          {"tunables", check.tunables},
          {"milliseconds", check.milliseconds}};
}

Json to_json(const WorkerSetting& setting) {
  return {{"device", setting.device},
          {"catalogue_files", setting.catalogue_files},
          {"seed", setting.seed}};
}

WorkerSetting worker_setting_from(const JsonReader& reader) {
  reader.allow_keys({"device", "catalogue_files", "seed"});
  return {reader.at("device").text(), reader.at("catalogue_files").texts(),
          static_cast<std::uint64_t>(reader.at("seed").integer())};
}

const DeviceInfo& WorkerClient::open() {
  if (process_.is_running()) return device_;
  const auto answer = process_.ask({{"open", to_json(setting_)}}, kOpenTimeoutMs);
  if (answer.kind != WorkerProcess::Answer::Kind::line) {
    throw DeviceError("the worker process " + answer.how + " before it had opened '" +
                      setting_.device + "'");
  }
  const JsonReader reader(answer.json, "answer of the worker process");
  if (reader.has("error")) {
    process_.stop();
    throw DeviceError("the worker process: " + reader.at("error").text());
  }
  device_ = device_info_from_json(reader.at("device"));
  return device_;
}

TrialOutcome WorkerClient::measure(const TrialRequest& request, double expected_ms) {
  const double timeout_ms = timeout_ms_ + kRunsOfACandidate * expected_ms;
  TrialOutcome outcome;
  outcome.kind = TrialOutcome::Kind::refused;
  for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
    static_cast<void>(open());
    const auto answer = process_.ask({{"measure", to_json(request)}}, timeout_ms);
    if (answer.kind == WorkerProcess::Answer::Kind::line) {
      const JsonReader reader(answer.json, "answer of the worker process");
      // After an error of the driver, its context may be of no use.
      if (reader.has("leaves")) process_.stop();
      return trial_outcome_from(reader.at("outcome"));
    }
    outcome.why = "the process that ran it " + answer.how;
    if (answer.kind == WorkerProcess::Answer::Kind::too_late) break;
    outcome.kind = answer.kind == WorkerProcess::Answer::Kind::gave_up
                       ? TrialOutcome::Kind::impossible
                       : TrialOutcome::Kind::refused;
  }
  return outcome;
}

KernelBuild WorkerClient::build(const KernelText& kernel) {
  static_cast<void>(open());
  const Json request = {
      {"kernel", kernel.kernel}, {"function", kernel.function}, {"text", kernel.text}};
  const auto answer = process_.ask({{"build", request}}, timeout_ms_);
  KernelBuild build;
  if (answer.kind != WorkerProcess::Answer::Kind::line) {
    build.problem = "the process that built it " + answer.how;
    return build;
  }
  const JsonReader reader(answer.json, "answer of the worker process");
  build.is_built = reader.at("built").boolean();
  build.problem = reader.at("problem").text();
  build.said = reader.at("said").text();
  build.milliseconds = reader.at("milliseconds").real();
  return build;
}

KernelCheck WorkerClient::check(const std::string& kernel) {
  static_cast<void>(open());
  const auto answer = process_.ask({{"check", kernel}}, timeout_ms_);
  KernelCheck check;
  if (answer.kind != WorkerProcess::Answer::Kind::line) {
    check.outcome = answer.kind == WorkerProcess::Answer::Kind::gave_up
                        ? KernelCheck::Outcome::impossible
                        : KernelCheck::Outcome::wrong;
    check.why = "the process that ran it " + answer.how;
    return check;
  }
  const JsonReader reader(answer.json, "answer of the worker process");
  // After an error of the driver, its context may be of no use.
  if (reader.has("leaves")) process_.stop();
  return kernel_check_from(reader.at("checked"));
}

}  // namespace morton::tools
