// SPDX-License-Identifier: Apache-2.0
#include "bench/measured_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include "bench/operand_sets.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/statistics.hpp"
#include "common/stopwatch.hpp"
#include "common/terminal.hpp"
#include "common/unused_options.hpp"

namespace morton::cli {
namespace {

constexpr std::int64_t kSamples = 15;
/// Few samples say nothing of the spread, so slow kernels get more time than --duration says.
constexpr std::int64_t kLeastSamples = 5;

/// Rounds so far, and whether another is wanted.
class Rounds {
 public:
  explicit Rounds(const SampleOptions& options)
      : goal_(options.count > 0 ? options.count
                                : (options.duration.empty() ? kSamples : kLeastSamples)),
        // A number of samples that is given decides alone.
        duration_ms_(options.count > 0 || options.duration.empty()
                         ? 0.0
                         : parse_duration_ms(options.duration)) {}

  [[nodiscard]] bool wanted() const {
    return done_ < goal_ || watch_.milliseconds() < duration_ms_;
  }
  void finish() { ++done_; }
  [[nodiscard]] std::int64_t goal() const { return goal_; }
  /// With `part` of the round that is under way.
  [[nodiscard]] double share(double part) const {
    const double rounds = (static_cast<double>(done_) + part) / static_cast<double>(goal_);
    return duration_ms_ > 0.0 ? std::min(rounds, watch_.milliseconds() / duration_ms_) : rounds;
  }

 private:
  std::int64_t goal_;
  double duration_ms_;
  std::int64_t done_ = 0;
  Stopwatch watch_;
};

/// Lets threads that spin after a call fall asleep: they halve the speed of who comes next.
void pause_after(const Contender& contender) {
  const std::chrono::milliseconds pause = contender.about().pause_after;
  if (pause.count() > 0) std::this_thread::sleep_for(pause);
}

/// Lets the contenders take turns.
void take_turns(Field& field, Setting& setting, const SampleOptions& options, Bench& bench) {
  if (field.contenders.empty()) return;
  const double warmup_ms = parse_duration_ms(options.warmup);
  if (!bench.peak) bench.peak.emplace(setting.device);
  setting.peak_kind = bench.peak->description();
  Progress progress(bench.label + "measuring");
  for (const auto& contender : field.contenders) {
    contender->warm_up(warmup_ms);
    pause_after(*contender);
  }
  Rounds rounds(options);
  const auto affords = [&](const auto& contender) {
    return bench.budget.affords_another_sample(*contender);
  };
  for (; rounds.wanted() && std::ranges::any_of(field.contenders, affords); rounds.finish()) {
    for (std::size_t i = 0; i < field.contenders.size(); ++i) {
      if (!affords(field.contenders[i])) continue;
      setting.peak_gflops.push_back(bench.peak->sample_gflops());
      field.contenders[i]->sample();
      pause_after(*field.contenders[i]);
      progress.update(
          rounds.share(static_cast<double>(i) / static_cast<double>(field.contenders.size())));
    }
  }
  for (const auto& contender : field.contenders) {
    const std::size_t got = contender->samples().call.size();
    if (got >= static_cast<std::size_t>(rounds.goal())) continue;
    field.cut.push_back({contender->name(), bench.budget.shortage(got, rounds.goal())});
  }
}

/// Which of several problems it is.
enum class Turn : std::uint8_t { first, later };

/// Options that no contender took any notice of. Throws UsageError for those of other families.
void warn_of_unused(const BenchProblemArguments& options, const std::string& family, Turn when,
                    const Field& field) {
  const auto& peers = options.peers.names;
  if (!options.peers.clblast_parameters.empty() &&
      std::ranges::find(peers, "clblast") == peers.end()) {
    log::warn("--clblast-parameters changes nothing without --peer clblast");
  }
  if (!options.peers.folder.empty() && peers.empty()) {
    log::warn("--peer-folder changes nothing without --peer");
  }
  if (field.contenders.empty()) return;
  UsedChoices used;
  for (const auto& contender : field.contenders) {
    used.work_groups.push_back(contender->about().work_group);
    used.stored.push_back(contender->about().stored);
    std::ranges::copy(contender->about().steps, std::back_inserter(used.kernels));
  }
  // Of several sizes the first decides, before anything is measured.
  if (when == Turn::first) refuse_foreign(options.kernels, family, used.kernels);
  for (const std::string& line : unused_of(options.kernels, used)) log::warn("{}", line);
}

/// The right results, and what of them is compared.
struct Expectations {
  std::vector<Expectation> all;
  std::string coverage;

  [[nodiscard]] std::vector<const Expectation*> pointers() const {
    std::vector<const Expectation*> list;
    for (const Expectation& one : all) list.push_back(&one);
    return list;
  }
};

Expectations expectations_of(const SingleProblem& problem, std::uint64_t seed) {
  using Rule = Expectation::Rule;
  Expectations result;
  const bool exact = problem.exact_on_integers;
  result.all.emplace_back(problem, integer_inputs(problem, seed),
                          exact ? Rule::exact : Rule::bounded, seed);
  result.coverage =
      fmt::format("integers{}, {}", exact ? " exactly" : "", result.all.front().coverage());
  if (problem.model.inputs().front().dtype == DType::f32) {
    result.all.emplace_back(problem, random_inputs(problem.model.inputs(), seed), Rule::bounded,
                            seed);
    result.coverage +=
        fmt::format("; random numbers within the error bound, {}", result.all.back().coverage());
  }
  return result;
}

}  // namespace

MeasuredProblem measure_problem(const SingleProblem& problem, const GemmShape& shape,
                                const BenchProblemArguments& options, Bench& bench) {
  Entrants entrants = entrants_of(options);
  entrants.label = bench.label;
  entrants.budget = &bench.budget;
  Setting setting{
      problem, kernels_of(problem.family, entrants.compile.catalogue_files, entrants.compile.use),
      bench.device, precision_text(options.kernels)};
  const OperandSets operand_sets =
      operand_sets_of(parse_buffers(options.samples.buffers), problem.bytes, setting.device);
  setting.buffers = operand_sets.description;
  setting.footprint_bytes = problem.bytes * static_cast<double>(operand_sets.count);
  entrants.sets = operand_sets.count;
  const Expectations expectations = expectations_of(problem, options.samples.seed);
  setting.coverage = expectations.coverage;
  Field peers;  // first, so that a library that is missing is said before kernels are built
  const PeerRequest request{shape, setting.device, entrants.sets, options.peers.folder,
                            options.peers.clblast_parameters};
  add_peers(options.peers.names, request, expectations.pointers(), peers);
  Field field = make_field(problem, setting.device, entrants, expectations.pointers());
  std::ranges::move(peers.contenders, std::back_inserter(field.contenders));
  std::ranges::move(peers.failed, std::back_inserter(field.failed));
  warn_of_unused(options, problem.family, bench.peak ? Turn::later : Turn::first, field);
  take_turns(field, setting, options.samples, bench);
  for (const auto& contender : field.contenders) bench.budget.note(*contender, problem.work());
  return {std::move(field), std::move(setting)};
}

}  // namespace morton::cli
