// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "tools/tuning/space.hpp"
#include "tools/tuning/trial.hpp"

namespace morton::tools {

/// How much is tried and how it is measured.
struct SearchRules {
  std::size_t first = 0;    ///< candidates that are tried in the space's order
  std::size_t most = 0;     ///< with the neighbours of the best, which follow while one is better
  int samples = 1;          ///< of each candidate, in turns with the best so far
  int final_samples = 1;    ///< of the best, in turns with the standard values and the peak
  double sample_ms = 20.0;  ///< length of a sample
};

/// One candidate's fate, as journals keep it.
struct TrialRecord {
  Environment tunables;
  enum class Fate : std::uint8_t {
    best,  ///< quicker than all before
    slower,
    impossible,
    refused
  } fate = Fate::slower;
  double ms = 0.0;  ///< the least sample, if measured
  std::string why;  ///< unless measured
};

[[nodiscard]] Json to_json(const TrialRecord& trial);
[[nodiscard]] TrialRecord trial_record_from(const JsonReader& reader);

/// The search for the best values of one kernel's tunables for one problem: the first candidates in
/// the space's order, then the neighbours of the best while they are better. A candidate takes the
/// place of the best when its least sample is below 0.99 of the least of the best one, taken in the
/// same turns: what else the machine does only ever adds time.
class Search {
 public:
  using Measure = std::function<TrialOutcome(const TrialRequest&)>;
  using Clock = std::chrono::steady_clock;

  Search(const Entry& entry, TunedProblem problem, SearchSpace space, const SearchRules& rules);

  /// Takes over what was found before: a trial of a journal, or a verdict.
  void recall(const TrialRecord& trial);
  /// Tries candidates until there are no more to try or the time is up; at least one that can be
  /// measured, if there is one. `told` gets each fate.
  void run(const Measure& measure, const std::function<void(const TrialRecord&)>& told,
           Clock::time_point deadline);
  /// What a run takes with these values: `flop` as the caller counts, `occupied` as occupied_flop.
  struct Work {
    double flop = 0.0;
    std::function<double(const Environment&)> occupied;
  };
  /// Measures the best in turns with the standard values and the device's peak; nothing when no
  /// candidate could be measured, the best one fails now, or a kernel of f32 is measured above 1.02
  /// of the peak three times (`flaw` says so).
  [[nodiscard]] std::optional<TunedRecord> confirm(const Measure& measure, const Work& work);

  [[nodiscard]] const std::string& flaw() const { return flaw_; }
  [[nodiscard]] const std::optional<Environment>& best() const { return best_; }
  [[nodiscard]] double best_ms() const { return best_ms_; }
  [[nodiscard]] std::size_t tried() const { return tried_.size(); }
  [[nodiscard]] std::size_t size() const { return space_.candidates.size(); }
  /// Candidates that the rules let it try.
  [[nodiscard]] std::size_t goal() const;

 private:
  [[nodiscard]] TrialRecord judge(const Environment& tunables, const TrialOutcome& outcome) const;
  [[nodiscard]] std::optional<Environment> next() const;
  [[nodiscard]] std::optional<TunedRecord> confirm_once(const Measure& measure, const Work& work);
  [[nodiscard]] TrialRequest request(const Environment& tunables) const;

  const Entry& entry_;
  TunedProblem problem_;
  SearchSpace space_;
  SearchRules rules_;
  std::set<Environment> tried_;
  std::set<Environment> measured_;
  std::optional<Environment> best_;
  double best_ms_ = 0.0;
  std::string flaw_;
};

}  // namespace morton::tools
