// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/tune.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/cache/cache_folder.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "device/open/kept_peaks.hpp"
#include "plan/cost/cost.hpp"
#include "plan/measured/tuned_file.hpp"
#include "tools/tuning/journal.hpp"
#include "tools/tuning/search.hpp"
#include "tools/tuning/tune_findings.hpp"
#include "tools/tuning/tune_kernels.hpp"
#include "tools/tuning/tune_pace.hpp"
#include "tools/tuning/tune_problem.hpp"
#include "tools/tuning/worker_client.hpp"

namespace morton {
using namespace tools;
namespace {

using Effort = TuneOptions::Effort;

SearchRules rules_for(Effort effort) {
  switch (effort) {
    case Effort::fast:
      return {.first = 4, .most = 12, .samples = 4, .final_samples = 8, .sample_ms = 5.0};
    case Effort::normal:
      return {.first = 12, .most = 48, .samples = 6, .final_samples = 12, .sample_ms = 20.0};
    case Effort::full:
      break;
  }
  constexpr std::size_t kAll = std::size_t{1} << 20;
  return {.first = kAll, .most = kAll, .samples = 8, .final_samples = 16, .sample_ms = 20.0};
}

/// The whole job: its pairs one after the other, each stored when it is done.
class Tuner {
 public:
  /// Plans never again use what gave no answer in time; less says too little for that.
  static constexpr double kLeastTimeoutMs = 10e3;

  explicit Tuner(const TuneOptions& options)
      : options_(options),
        rules_(rules_for(options.effort)),
        client_(options.worker, {options.device, options.catalogue_files, options.seed},
                options.candidate_timeout_ms),
        catalogue_(Catalogue::standard()) {
    for (const std::string& file : options.catalogue_files) catalogue_.add_file(file);
    if (options.candidate_timeout_ms < kLeastTimeoutMs) {
      throw UsageError(
          "tune: a candidate must have 10 s at least, since one that gives no answer in time is "
          "refused in all later plans");
    }
  }

  TuneReport run(const std::vector<TuneProblem>& problems) {
    const std::vector<const Entry*> named = named_kernels(options_.kernels, catalogue_);
    device_ = client_.open();
    // The worker keeps nothing on disk; what is likely to be quick is what plans take for it.
    const KeptPeaks kept = read_kept_peaks(cache_folder(options_.cache_dir), device_);
    if (kept.peaks) device_.peaks = *kept.peaks;
    if (!kept.problem.empty()) log(kept.problem);
    for (const TuneProblem& problem : problems) add_pairs(problem, named);
    if (pairs_.empty()) throw UsageError("tune: there is no problem to tune");
    const std::filesystem::path folder =
        tuning_folder(trusted_cache(cache_folder(options_.cache_dir)));
    if (folder.empty()) {
      throw UsageError("tune: no cache folder is known for the journal: give " +
                       setting("cache_dir"));
    }
    TuneFindings findings(options_, folder, catalogue_, TunedDevice::of(device_));
    const Json job = job_json(findings);
    Journal journal(folder / "journal" / (digest_of(job.dump()) + ".jsonl"), job);
    const TunePace pace(options_, pairs_, device_);
    std::size_t done = 0;
    // One at least: who gives too little time sees what it is too little for.
    while (done < pairs_.size() && (done == 0 || !pace.is_over())) {
      tune_pair(done++, journal, findings, pace);
    }
    if (done < pairs_.size()) findings.note_left(pairs_.size() - done, pairs_.size());
    journal.finish();
    return findings.finish();
  }

 private:
  void add_pairs(const TuneProblem& given, const std::vector<const Entry*>& named) {
    const Json json = parse_json(given.json, "a problem to tune");
    const TunedProblem problem = tuned_problem_from(JsonReader(json, "a problem to tune"));
    const BoundProblem bound = bound_of(problem);
    const bool seen =
        std::ranges::any_of(pairs_, [&](const TunePair& pair) { return pair.problem == problem; });
    if (seen) return;
    auto kernels =
        named.empty() ? likely_kernels(problem, options_.effort, catalogue_, device_) : named;
    std::erase_if(kernels, [&](const Entry* entry) { return entry->family != problem.family; });
    for (const Entry* entry : kernels) pairs_.push_back({bound, problem, entry});
  }

  /// What must be the same for a journal to be of use.
  [[nodiscard]] Json job_json(const TuneFindings& findings) const {
    Json pairs = Json::array();
    for (const TunePair& pair : pairs_) {
      pairs.push_back({{"problem", to_json(pair.problem)},
                       {"kernel", pair.entry->name},
                       {"hash", pair.entry->program.digest.kernel}});
    }
    return {{"device", findings.device().fingerprint},
            {"effort", static_cast<int>(options_.effort)},
            {"seed", options_.seed},
            {"file", findings.file().string()},
            {"pairs", pairs}};
  }

  void tune_pair(std::size_t index, Journal& journal, TuneFindings& findings,
                 const TunePace& pace) {
    const TunePair& pair = pairs_[index];
    Search search(*pair.entry, pair.problem,
                  search_space(*pair.entry, pair.bound.problem, device_, options_.seed), rules_);
    Message last_reason = findings.recall_verdicts(pair, search);
    if (last_reason.empty()) last_reason = "no values of its tunables satisfy its requirements";
    if (recall_journal(index, journal, search, findings)) return;
    const auto told = [&](const TrialRecord& trial) {
      journal.append({{"pair", index}, {"trial", to_json(trial)}});
      if (trial.fate == TrialRecord::Fate::refused) findings.refuse(pair, trial);
      pace.tell(index, search);
    };
    const double expected_ms = expected_ms_of(pair);
    const auto measure = [&](const TrialRequest& request) {
      TrialOutcome outcome = client_.measure(request, expected_ms);
      if (!outcome.why.empty()) last_reason = outcome.why;
      return outcome;
    };
    search.run(measure, told, pace.deadline_of(index));
    const Search::Work work{
        flop_of(*pair.entry, pair.bound.problem, device_), [&](const Environment& values) {
          return occupied_flop(*pair.entry, pair.bound.problem, values, device_);
        }};
    const auto record = search.confirm(measure, work);
    if (!record) {
      if (!search.flaw().empty()) last_reason = search.flaw();
      findings.keep_verdicts(pair);
      journal.append({{"pair", index}, {"nothing", message_json(last_reason)}});
      return findings.note(pair, last_reason);
    }
    findings.keep(pair, *record);
    journal.append({{"pair", index}, {"record", to_json(*record)}});
    findings.report(*record);
  }

  /// Takes over what an earlier process found; true when it had finished the pair.
  bool recall_journal(std::size_t index, const Journal& journal, Search& search,
                      TuneFindings& findings) {
    const TunePair& pair = pairs_[index];
    for (const Json& line : journal.earlier()) {
      const JsonReader reader(line, journal.path().string());
      if (reader.at("pair").integer() != static_cast<std::int64_t>(index)) continue;
      if (reader.has("record")) {
        // Stored by the process that found it.
        findings.report(tuned_record_from(reader.at("record"), findings.device()));
        return true;
      }
      if (reader.has("nothing")) {
        findings.note(pair, message_from(reader.at("nothing")));
        return true;
      }
      const TrialRecord trial = trial_record_from(reader.at("trial"));
      search.recall(trial);
      findings.recall(pair, trial);
    }
    return false;
  }

  /// Time of a run as the cost model guesses it, with the standard values.
  [[nodiscard]] double expected_ms_of(const TunePair& pair) const {
    const double flop = flop_of(*pair.entry, pair.bound.problem, device_);
    return step_cost_us(flop, efficiency_of(*pair.entry, device_), 0.0, device_) / 1e3;
  }

  void log(const Message& line) const {
    if (options_.log) options_.log(line);
  }

  const TuneOptions& options_;
  SearchRules rules_;
  WorkerClient client_;
  Catalogue catalogue_;
  DeviceInfo device_;
  std::vector<TunePair> pairs_;
};

}  // namespace

TuneReport tune(const std::vector<TuneProblem>& problems, const TuneOptions& options) {
  return Tuner(options).run(problems);
}

}  // namespace morton
