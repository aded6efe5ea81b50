// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/search.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/measured/tuned_file.hpp"

namespace morton::tools {
namespace {

/// Noise between equal candidates is about as much.
constexpr double kBetter = 0.99;

std::string_view name_of(TrialRecord::Fate fate) {
  switch (fate) {
    case TrialRecord::Fate::best:
      return "best";
    case TrialRecord::Fate::slower:
      return "slower";
    case TrialRecord::Fate::impossible:
      return "impossible";
    case TrialRecord::Fate::refused:
      return "refused";
  }
  return "";
}

/// Of a rate above the peak at least one of the two is measured wrong.
constexpr double kMostOfPeak = 1.02;
constexpr int kTrialAttempts = 3;

/// Kernels that keep operands in a smaller type may do more than the peak of f32.
bool is_reduced(const Entry& entry) {
  return std::ranges::any_of(entry.operands,
                             [](const auto& operand) { return operand.second.stored.has_value(); });
}

double least(const std::vector<double>& values) { return *std::ranges::min_element(values); }

}  // namespace

Json to_json(const TrialRecord& trial) {
  return {{"tunables", Json(trial.tunables)},
          {"fate", name_of(trial.fate)},
          {"ms", trial.ms},
          {"why", trial.why}};
}

TrialRecord trial_record_from(const JsonReader& reader) {
  TrialRecord trial;
  trial.tunables = environment_from(reader.at("tunables"));
  const std::string fate = reader.at("fate").text();
  using Fate = TrialRecord::Fate;
  const auto kinds = {Fate::best, Fate::slower, Fate::impossible, Fate::refused};
  const auto found = std::ranges::find(kinds, fate, [](Fate kind) { return name_of(kind); });
  if (found == kinds.end()) reader.at("fate").fail("'" + fate + "' is no fate of a candidate");
  trial.fate = *found;
  trial.ms = reader.at("ms").real();
  trial.why = reader.at("why").text();
  return trial;
}

Search::Search(const Entry& entry, TunedProblem problem, SearchSpace space,
               const SearchRules& rules)
    : entry_(entry), problem_(std::move(problem)), space_(std::move(space)), rules_(rules) {}

void Search::recall(const TrialRecord& trial) {
  if (std::ranges::find(space_.candidates, trial.tunables) == space_.candidates.end()) return;
  tried_.insert(trial.tunables);
  using Fate = TrialRecord::Fate;
  if (trial.fate == Fate::best || trial.fate == Fate::slower) measured_.insert(trial.tunables);
  if (trial.fate != Fate::best) return;
  best_ = trial.tunables;
  best_ms_ = trial.ms;
}

std::size_t Search::goal() const { return std::min(size(), std::max(rules_.first, rules_.most)); }

std::optional<Environment> Search::next() const {
  if (tried_.size() >= goal()) return std::nullopt;
  const std::size_t first = std::min(rules_.first, size());
  for (std::size_t i = 0; i < first; ++i) {
    if (!tried_.contains(space_.candidates[i])) return space_.candidates[i];
  }
  if (best_) {
    for (const std::size_t i : neighbours(entry_, space_, *best_)) {
      if (!tried_.contains(space_.candidates[i])) return space_.candidates[i];
    }
    return std::nullopt;
  }
  for (const Environment& values : space_.candidates) {
    if (!tried_.contains(values)) return values;
  }
  return std::nullopt;
}

TrialRequest Search::request(const Environment& tunables) const {
  TrialRequest request;
  request.problem = problem_;
  request.kernel = entry_.name;
  request.tunables = tunables;
  request.against = best_;
  request.samples = rules_.samples;
  request.sample_ms = rules_.sample_ms;
  return request;
}

TrialRecord Search::judge(const Environment& tunables, const TrialOutcome& outcome) const {
  TrialRecord trial;
  trial.tunables = tunables;
  trial.why = outcome.why;
  if (outcome.kind != TrialOutcome::Kind::measured) {
    const bool refused = outcome.kind == TrialOutcome::Kind::refused;
    trial.fate = refused ? TrialRecord::Fate::refused : TrialRecord::Fate::impossible;
    return trial;
  }
  trial.ms = least(outcome.ms);
  const bool better = outcome.against_ms.empty() || trial.ms < kBetter * least(outcome.against_ms);
  trial.fate = better ? TrialRecord::Fate::best : TrialRecord::Fate::slower;
  return trial;
}

void Search::run(const Measure& measure, const std::function<void(const TrialRecord&)>& told,
                 Clock::time_point deadline) {
  while (!best_ || Clock::now() < deadline) {
    const auto candidate = next();
    if (!candidate) return;
    const TrialRecord trial = judge(*candidate, measure(request(*candidate)));
    recall(trial);
    told(trial);
  }
}

std::optional<TunedRecord> Search::confirm(const Measure& measure, const Work& work) {
  for (int attempt = 0; best_ && attempt < kTrialAttempts; ++attempt) {
    auto record = confirm_once(measure, work);
    if (!record) return std::nullopt;
    if (is_reduced(entry_) || record->gflops <= kMostOfPeak * record->peak_gflops) return record;
    flaw_ = "faster than the device's peak of the same turns: the machine is too busy to measure";
  }
  return std::nullopt;
}

std::optional<TunedRecord> Search::confirm_once(const Measure& measure, const Work& work) {
  const Environment& standard = space_.standard;
  const bool compared = measured_.contains(standard);
  TrialRequest last = request(*best_);
  last.against = compared ? standard : *best_;
  last.samples = rules_.final_samples;
  last.peak = TrialRequest::Peak::sampled;
  const TrialOutcome outcome = measure(last);
  if (outcome.kind != TrialOutcome::Kind::measured) return std::nullopt;
  TunedRecord record;
  record.kernel = entry_.name;
  record.hash = entry_.program.digest.kernel;
  record.problem = problem_;
  record.tunables = *best_;
  record.ms = least(outcome.ms);
  if (compared) record.standard_ms = least(outcome.against_ms);
  // Noise may have preferred what is no better, or the best is the standard itself.
  if (compared && record.standard_ms < record.ms) {
    record.tunables = standard;
    record.ms = record.standard_ms;
  }
  if (compared && record.tunables == standard) record.standard_ms = record.ms;
  record.peak_gflops = *std::ranges::max_element(outcome.peak_gflops);
  record.gflops = work.flop / (record.ms * 1e6);
  record.efficiency = work.occupied(record.tunables) / (record.ms * 1e6 * record.peak_gflops);
  record.tried = static_cast<std::int64_t>(tried());
  record.space = static_cast<std::int64_t>(size());
  return record;
}

}  // namespace morton::tools
