// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/tune_findings.hpp"

#include <utility>

#include "plan/measured/tuned_file.hpp"
#include "plan/measured/tuned_store.hpp"
#include "plan/policy/tunables.hpp"
#include "tools/tuning/tune_kernels.hpp"

namespace morton::tools {
namespace {

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

}  // namespace

TuneFindings::TuneFindings(const TuneOptions& options, const std::filesystem::path& folder,
                           const Catalogue& catalogue, TunedDevice device)
    : options_(options),
      catalogue_(catalogue),
      device_(std::move(device)),
      file_(options.output.empty() ? tuning_file(folder, device_)
                                   : std::filesystem::path(options.output)) {
  report_.file = file_.string();
  require_storable(file_, device_);
  read_shipped_tuning(known_);
  read_kept_tuning(folder, known_);
}

Message TuneFindings::recall_verdicts(const TunePair& pair, Search& search) const {
  Message reason;
  for (const Verdict& verdict : known_.verdicts()) {
    if (verdict.kernel != pair.entry->name || !pair.entry->program.digest.is(verdict.hash))
      continue;
    if (verdict.device.fingerprint != device_.fingerprint) continue;
    search.recall({verdict.tunables, TrialRecord::Fate::refused, 0.0, verdict.why});
    reason =
        "refused before (" + setting("cache", "clear tuning") + " forgets that): " + verdict.why;
  }
  return reason;
}

void TuneFindings::recall(const TunePair& pair, const TrialRecord& trial) {
  ++report_.recalled;
  if (trial.fate == TrialRecord::Fate::refused) refuse(pair, trial);
}

void TuneFindings::refuse(const TunePair& pair, const TrialRecord& trial) {
  Verdict verdict{device_, pair.entry->name, pair.entry->program.digest.kernel, trial.tunables,
                  trial.why};
  report_.refused.push_back({verdict.kernel, plain(verdict.tunables), verdict.why});
  known_.add(verdict);
  fresh_verdicts_.push_back(std::move(verdict));
  if (!options_.log) return;
  options_.log(pair.entry->name + " " + print_tunables(trial.tunables) + ": refused: " + trial.why);
}

void TuneFindings::keep(const TunePair& pair, const TunedRecord& record) {
  TunedData found;
  found.add(record);
  store(std::move(found), pair);
}

void TuneFindings::report(const TunedRecord& record) {
  report_.results.push_back(result_of(record));
}

void TuneFindings::note(const TunePair& pair, const Message& why) {
  report_.notes.push_back(pair.entry->name + " for " + print_extents(pair.problem) + ": " + why);
}

void TuneFindings::note_left(std::size_t left, std::size_t all) {
  report_.notes.push_back(std::to_string(left) + " of " + std::to_string(all) +
                          " kernels and problems: the time was up (" + setting("budget_ms") + ")");
}

/// Adds the verdicts that were found meanwhile, and writes the file if there is anything.
void TuneFindings::store(TunedData found, const TunePair& pair) {
  for (Verdict& verdict : fresh_verdicts_) {
    if (verdict.kernel == pair.entry->name) found.add(verdict);
  }
  fresh_verdicts_.clear();
  if (found.records().empty() && found.verdicts().empty()) return;
  store_tuning(file_, device_, std::move(found), catalogue_);
}

}  // namespace morton::tools
