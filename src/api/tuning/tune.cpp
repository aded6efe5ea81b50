// SPDX-License-Identifier: Apache-2.0
#include "morton/tune.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "api/compile/cache_folder.hpp"
#include "api/tuning/tune_kernels.hpp"
#include "api/tuning/tune_problem.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/stopwatch.hpp"
#include "device/open/kept_roofs.hpp"
#include "plan/cost/cost.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/policy/tunables.hpp"
#include "tuning/journal.hpp"
#include "tuning/search.hpp"
#include "tuning/store.hpp"
#include "tuning/worker_client.hpp"

namespace morton {
using namespace api;
namespace {

using Clock = std::chrono::steady_clock;
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

/// One kernel on one problem.
struct Pair {
  BoundProblem bound;
  TunedProblem problem;
  const Entry* entry = nullptr;
};

TuneResult result_of(const TunedRecord& record) {
  TuneResult result;
  result.problem = record.problem.family.name() + " " + print_extents(record.problem);
  for (const auto& [operand, order] : record.problem.orders) {
    result.problem += ", " + operand + " " + order;
  }
  result.kernel = record.kernel;
  result.tunables = plain(record.tunables);
  result.ms = record.ms;
  result.gflops = record.gflops;
  result.share_of_peak = record.gflops / record.peak_gflops;
  result.standard_ms = record.standard_ms;
  result.tried = record.tried;
  result.space = record.space;
  return result;
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
    const KeptRoofs kept = read_kept_roofs(cache_folder(options_.cache_dir), device_);
    if (kept.roofs) device_.roofs = *kept.roofs;
    if (!kept.problem.empty()) log(kept.problem);
    own_ = TunedDevice::of(device_);
    for (const TuneProblem& problem : problems) add_pairs(problem, named);
    if (pairs_.empty()) throw UsageError("tune: there is no problem to tune");
    const std::filesystem::path folder = tuning_folder(cache_folder(options_.cache_dir));
    if (folder.empty()) {
      throw UsageError("tune: no cache folder is known for the journal: give --cache-dir");
    }
    file_ = options_.output.empty() ? tuning_file(folder, own_)
                                    : std::filesystem::path(options_.output);
    report_.file = file_.string();
    require_storable(file_, own_);  // before the time is spent
    read_shipped_tuning(known_);
    read_kept_tuning(folder, known_);
    const Json job = job_json();
    Journal journal(folder / "journal" / (digest_of(job.dump()) + ".jsonl"), job);
    watch_ = Stopwatch();
    for (std::size_t i = 0; i < pairs_.size(); ++i) tune_pair(i, journal);
    journal.finish();
    return std::move(report_);
  }

 private:
  void add_pairs(const TuneProblem& given, const std::vector<const Entry*>& named) {
    const Json json = parse_json(given.json, "a problem to tune");
    const TunedProblem problem = tuned_problem_from(JsonReader(json, "a problem to tune"));
    const BoundProblem bound = bound_of(problem);
    const bool seen =
        std::ranges::any_of(pairs_, [&](const Pair& pair) { return pair.problem == problem; });
    if (seen) return;
    auto kernels =
        named.empty() ? likely_kernels(problem, options_.effort, catalogue_, device_) : named;
    std::erase_if(kernels, [&](const Entry* entry) { return entry->family != problem.family; });
    for (const Entry* entry : kernels) pairs_.push_back({bound, problem, entry});
  }

  /// What must be the same for a journal to be of use.
  [[nodiscard]] Json job_json() const {
    Json pairs = Json::array();
    for (const Pair& pair : pairs_) {
      pairs.push_back({{"problem", to_json(pair.problem)},
                       {"kernel", pair.entry->name},
                       {"hash", pair.entry->digest.kernel}});
    }
    return {{"device", own_.fingerprint},
            {"effort", static_cast<int>(options_.effort)},
            {"seed", options_.seed},
            {"file", file_.string()},
            {"pairs", pairs}};
  }

  void tune_pair(std::size_t index, Journal& journal) {
    const Pair& pair = pairs_[index];
    Search search(*pair.entry, pair.problem,
                  search_space(*pair.entry, pair.bound.problem, device_, options_.seed), rules_);
    std::string last_reason = "no values of its tunables satisfy its requirements";
    recall_verdicts(pair, search, last_reason);
    if (recall_journal(index, journal, search)) return;
    const auto told = [&](const TrialRecord& trial) {
      journal.append({{"pair", index}, {"trial", to_json(trial)}});
      if (trial.fate == TrialRecord::Fate::refused) refuse(pair, trial);
      tell(index, search);
    };
    const double expected_ms = expected_ms_of(pair);
    const auto measure = [&](const TrialRequest& request) {
      TrialOutcome outcome = client_.measure(request, expected_ms);
      if (!outcome.why.empty()) last_reason = outcome.why;
      return outcome;
    };
    search.run(measure, told, deadline_of(index));
    const Search::Work work{
        flop_of(*pair.entry, pair.bound.problem, device_), [&](const Environment& values) {
          return occupied_flop(*pair.entry, pair.bound.problem, values, device_);
        }};
    const auto record = search.confirm(measure, work);
    if (!record) {
      if (!search.flaw().empty()) last_reason = search.flaw();
      store(TunedData{}, pair);
      journal.append({{"pair", index}, {"nothing", last_reason}});
      return note(pair, last_reason);
    }
    TunedData found;
    found.add(*record);
    store(std::move(found), pair);
    journal.append({{"pair", index}, {"record", to_json(*record)}});
    report_.results.push_back(result_of(*record));
  }

  /// Takes over what an earlier process found; true when it had finished the pair.
  bool recall_journal(std::size_t index, const Journal& journal, Search& search) {
    const Pair& pair = pairs_[index];
    for (const Json& line : journal.earlier()) {
      const JsonReader reader(line, journal.path().string());
      if (reader.at("pair").integer() != static_cast<std::int64_t>(index)) continue;
      if (reader.has("record")) {
        // Stored by the process that found it.
        report_.results.push_back(result_of(tuned_record_from(reader.at("record"), own_)));
        return true;
      }
      if (reader.has("nothing")) {
        note(pair, reader.at("nothing").text());
        return true;
      }
      const TrialRecord trial = trial_record_from(reader.at("trial"));
      ++report_.recalled;
      search.recall(trial);
      if (trial.fate == TrialRecord::Fate::refused) refuse(pair, trial);
    }
    return false;
  }

  /// Time of a run as the cost model guesses it, with the standard values.
  [[nodiscard]] double expected_ms_of(const Pair& pair) const {
    const double flop = flop_of(*pair.entry, pair.bound.problem, device_);
    return step_cost_us(flop, efficiency_of(*pair.entry, device_), 0.0, device_) / 1e3;
  }

  /// Values that earlier jobs found refused on this device are not tried again.
  void recall_verdicts(const Pair& pair, Search& search, std::string& reason) const {
    for (const Verdict& verdict : known_.verdicts()) {
      if (verdict.kernel != pair.entry->name || !pair.entry->digest.is(verdict.hash)) continue;
      if (verdict.device.fingerprint != own_.fingerprint) continue;
      search.recall({verdict.tunables, TrialRecord::Fate::refused, 0.0, verdict.why});
      reason = "refused before (`morton cache clear tuning` forgets that): " + verdict.why;
    }
  }

  void refuse(const Pair& pair, const TrialRecord& trial) {
    Verdict verdict{own_, pair.entry->name, pair.entry->digest.kernel, trial.tunables, trial.why};
    report_.refused.push_back({verdict.kernel, plain(verdict.tunables), verdict.why});
    known_.add(verdict);
    fresh_verdicts_.push_back(std::move(verdict));
    log(pair.entry->name + " " + print_tunables(trial.tunables) + ": refused: " + trial.why);
  }

  /// Adds the verdicts that were found meanwhile, and writes the file if there is anything.
  void store(TunedData found, const Pair& pair) {
    for (Verdict& verdict : fresh_verdicts_) {
      if (verdict.kernel == pair.entry->name) found.add(verdict);
    }
    fresh_verdicts_.clear();
    if (found.records().empty() && found.verdicts().empty()) return;
    store_tuning(file_, own_, std::move(found), catalogue_);
  }

  void note(const Pair& pair, const std::string& why) {
    report_.notes.push_back(pair.entry->name + " for " + print_extents(pair.problem) + ": " + why);
  }

  /// What is left of the time, shared by the pairs that are left.
  [[nodiscard]] Clock::time_point deadline_of(std::size_t index) const {
    const double left_ms = std::max(0.0, options_.budget_ms - watch_.milliseconds());
    const double share_ms = left_ms / static_cast<double>(pairs_.size() - index);
    return Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(share_ms * 1e3));
  }

  void tell(std::size_t index, const Search& search) const {
    if (!options_.progress) return;
    const Pair& pair = pairs_[index];
    const double inside = search.goal() == 0 ? 1.0
                                             : static_cast<double>(search.tried()) /
                                                   static_cast<double>(search.goal());
    const double done = (static_cast<double>(index) + inside) / static_cast<double>(pairs_.size());
    std::string text = pair.entry->name + " " + print_extents(pair.problem) + ": " +
                       std::to_string(search.tried()) + " of " + std::to_string(search.goal());
    if (search.best()) {
      const double gflops =
          flop_of(*pair.entry, pair.bound.problem, device_) / (search.best_ms() * 1e6);
      text += ", best " + std::to_string(static_cast<std::int64_t>(gflops)) + " GFLOP/s";
      const std::string values = print_tunables(*search.best());
      if (!values.empty()) text += " (" + values + ")";
    }
    options_.progress(
        {std::max(done, std::min(1.0, watch_.milliseconds() / options_.budget_ms)), text});
  }

  void log(const std::string& line) const {
    if (options_.log) options_.log(line);
  }

  const TuneOptions& options_;
  SearchRules rules_;
  WorkerClient client_;
  Catalogue catalogue_;
  DeviceInfo device_;
  TunedDevice own_;
  std::vector<Pair> pairs_;
  std::filesystem::path file_;
  TunedData known_;
  std::vector<Verdict> fresh_verdicts_;
  TuneReport report_;
  Stopwatch watch_;
};

}  // namespace

TuneReport tune(const std::vector<TuneProblem>& problems, const TuneOptions& options) {
  return Tuner(options).run(problems);
}

}  // namespace morton
