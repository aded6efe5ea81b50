// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>

#include "bench/bench_report.hpp"
#include "bench/comparison.hpp"
#include "bench/field.hpp"
#include "bench/operand_sets.hpp"
#include "bench/peers/peer.hpp"
#include "bench/single_problem.hpp"
#include "common/commands.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/statistics.hpp"
#include "common/stopwatch.hpp"
#include "common/terminal.hpp"
#include "common/unused_options.hpp"
#include "morton/error.hpp"
#include "morton/tools/peak.hpp"

namespace morton::cli {
namespace {

constexpr const char* kBenchProblemFooter =
    R"(Every kernel is checked first. Small integers must give the exact result, random numbers one within
the error bound. A wrong kernel has no figures, and the status is 1. Then all take turns.

A sample is calls back to back for 20 ms or more with one wait at the end. It is taken on the host's
clock, packing and unpacking included. `alone` is the same without packing, `device` the device's own
clock. Figures are medians. `iqr` is the interquartile range, `best` the quickest sample against the best
peak, `wait` the cost of waiting for a call. `peak` is measured in the same turns by multiply-adds in
registers. A figure of more than 102 % of it makes the status 1.

Examples:
  morton bench gemm --m 1000 --n 1000 --k 1000 --all
  morton bench gemm --m 512 --n 512 --k 512 --peer openblas,onednn,clblast
  morton bench gemm --m 64 --n 64 --k 64 --use gemm=gemm.rm_rm --local 8x8 --format json
  morton bench gemm --m 512 --n 512 --k 512 --type u8 --all
  morton bench bias --rows 1000 --columns 1000 --all)";

constexpr std::int64_t kSamples = 15;
/// Few samples say nothing of the spread, so slow kernels get more time than --duration says.
constexpr std::int64_t kLeastSamples = 5;

struct BenchProblemArguments {
  std::string matrix_family;  ///< empty: a product
  GemmOptions gemm;
  std::int64_t rows = 0, columns = 0;
  bool all = false;
  std::vector<std::string> peers;
  std::string peer_folder, clblast_parameters;
  std::string buffers = "warm";
  std::int64_t samples = 0;  ///< 0: as `duration` says, else kSamples
  std::string duration, warmup = "100ms";
  std::uint64_t seed = 1;
  DeviceOptions device;
  KernelOptions kernels;
  ResultOptions result;
};

SingleProblem problem_of(const BenchProblemArguments& options) {
  if (options.matrix_family.empty()) return gemm_problem(shape_of(options.gemm));
  return matrix_problem(options.matrix_family, options.rows, options.columns);
}

/// Rounds so far, and whether another is wanted.
class Rounds {
 public:
  explicit Rounds(const BenchProblemArguments& options)
      : goal_(options.samples > 0 ? options.samples
                                  : (options.duration.empty() ? kSamples : kLeastSamples)),
        // A number of samples that is given decides alone.
        duration_ms_(options.samples > 0 || options.duration.empty()
                         ? 0.0
                         : parse_duration_ms(options.duration)) {}

  [[nodiscard]] bool wanted() const {
    return done_ < goal_ || watch_.milliseconds() < duration_ms_;
  }
  void finish() { ++done_; }
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
  constexpr std::chrono::milliseconds kPause(300);
  if (contender.about().pause_after) std::this_thread::sleep_for(kPause);
}

/// Lets the contenders take turns.
void take_turns(Field& field, Setting& setting, const BenchProblemArguments& options) {
  if (field.contenders.empty()) return;
  const double warmup_ms = parse_duration_ms(options.warmup);
  PeakProbe probe(setting.device);
  setting.peak_kind = probe.description();
  Progress progress("measuring");
  for (const auto& contender : field.contenders) {
    contender->warm_up(warmup_ms);
    pause_after(*contender);
  }
  for (Rounds rounds(options); rounds.wanted(); rounds.finish()) {
    for (std::size_t i = 0; i < field.contenders.size(); ++i) {
      setting.peak_gflops.push_back(probe.sample_gflops());
      field.contenders[i]->sample();
      pause_after(*field.contenders[i]);
      progress.update(
          rounds.share(static_cast<double>(i) / static_cast<double>(field.contenders.size())));
    }
  }
}

/// Options that no contender took any notice of.
void warn_of_unused(const BenchProblemArguments& options, const Field& field) {
  const auto& peers = options.peers;
  if (!options.clblast_parameters.empty() && std::ranges::find(peers, "clblast") == peers.end()) {
    log::warn("--clblast-parameters changes nothing without --peer clblast");
  }
  if (!options.peer_folder.empty() && peers.empty()) {
    log::warn("--peer-folder changes nothing without --peer");
  }
  if (field.contenders.empty()) return;
  UsedChoices used;
  for (const auto& contender : field.contenders) {
    used.work_groups.push_back(contender->about().work_group);
    used.stored.push_back(contender->about().stored);
  }
  for (const std::string& line : unused_of(options.kernels, used)) log::warn("{}", line);
}

int bench_problem(const BenchProblemArguments& options) {
  const SingleProblem problem = problem_of(options);
  Entrants entrants;
  entrants.compile = compile_options(options.kernels);
  if (options.all) entrants.kernels = Entrants::Kernels::every;
  Setting setting{problem, kernels_of(problem.family, entrants.compile.catalogue_files),
                  open_device(options.device), precision_text(options.kernels)};
  const OperandSets operand_sets =
      operand_sets_of(parse_buffers(options.buffers), problem.bytes, setting.device);
  setting.buffers = operand_sets.description;
  setting.footprint_bytes = problem.bytes * static_cast<double>(operand_sets.count);
  entrants.sets = operand_sets.count;
  const std::uint64_t seed = options.seed;
  using Rule = Expectation::Rule;
  const Expectation integers(problem, integer_inputs(problem, seed),
                             problem.exact_on_integers ? Rule::exact : Rule::bounded, seed);
  setting.coverage = fmt::format("integers{}, {}", problem.exact_on_integers ? " exactly" : "",
                                 integers.coverage());
  std::vector<const Expectation*> expectations{&integers};
  std::optional<Expectation> reals;
  if (problem.model.inputs().front().dtype == DType::f32) {
    reals.emplace(problem, random_inputs(problem.model.inputs(), seed), Rule::bounded, seed);
    expectations.push_back(&*reals);
    setting.coverage +=
        fmt::format("; random numbers within the error bound, {}", reals->coverage());
  }
  Field peers;  // first, so that a library that is missing is said before kernels are built
  const PeerRequest request{shape_of(options.gemm), setting.device, entrants.sets,
                            options.peer_folder, options.clblast_parameters};
  add_peers(options.peers, request, expectations, peers);
  Field field = make_field(problem, setting.device, entrants, expectations);
  std::ranges::move(peers.contenders, std::back_inserter(field.contenders));
  std::ranges::move(peers.failed, std::back_inserter(field.failed));
  warn_of_unused(options, field);
  take_turns(field, setting, options);
  sort_by_speed(field);
  emit(report_of(field, setting, options.result.format), options.result.path);
  for (const auto& [name, why] : field.failed) log::error("{}: {}", name, why);
  const std::vector<std::string> impossible = above_peak(field, setting);
  for (const std::string& line : impossible) log::error("{}", line);
  return field.failed.empty() && impossible.empty() ? 0 : kCheckFailed;
}

void add_gemm_options(CLI::App& command, BenchProblemArguments& options) {
  add_options(command, options.gemm);
  add_type_option(command, options.gemm);
  command
      .add_option("--peer", options.peers,
                  fmt::format("Measure other libraries too, in the same turns: {}",
                              fmt::join(peer_names(), ", ")))
      ->option_text("NAME,...")
      ->allow_extra_args(false)
      ->delimiter(',');
  command
      .add_option("--peer-folder", options.peer_folder,
                  "Folder of the peers' libraries, instead of the loader's path")
      ->option_text("FOLDER");
  command
      .add_option("--clblast-parameters", options.clblast_parameters,
                  "Tuned parameters for --peer clblast, as bench/clblast_tune.py writes them")
      ->option_text("FILE");
}

void add_measure_options(CLI::App& command, BenchProblemArguments& options) {
  command.add_option("-n,--iterations", options.samples, "Samples of each contender (15)")
      ->option_text("N")
      ->check(whole_number(1));
  command.add_option("--duration", options.duration, "Time to take samples for, instead of -n")
      ->option_text("TIME");
  command
      .add_option("--warmup", options.warmup, "Time to run each contender before measuring (100ms)")
      ->option_text("TIME");
  command
      .add_option(
          "--buffers", options.buffers,
          "warm: every call uses the same operands; rotate: calls use others, out of the caches")
      ->option_text("WHICH");
  command.add_option("--seed", options.seed, "Seed of the random inputs (1)")
      ->option_text("N")
      ->check(whole_number(0));
}

void add_common_options(CLI::App& command, const std::shared_ptr<BenchProblemArguments>& options,
                        Action& chosen) {
  command.footer(kBenchProblemFooter);
  command.add_flag("--all", options->all, "Every kernel and recipe that can compute the problem");
  add_options(command, options->kernels);
  add_measure_options(command, *options);
  add_options(command, options->device);
  add_options(command, options->result, every_format());
  command.callback([options, &chosen] { chosen = [options] { return bench_problem(*options); }; });
}

}  // namespace

void add_bench_gemm(CLI::App& bench_command, Action& chosen) {
  CLI::App* command = bench_command.add_subcommand("gemm", "Measure kernels for a matrix product");
  auto options = std::make_shared<BenchProblemArguments>();
  add_gemm_options(*command, *options);
  add_common_options(*command, options, chosen);
}

void add_bench_matrix(CLI::App& bench_command, const std::string& family, Action& chosen) {
  CLI::App* command = bench_command.add_subcommand(family, "Measure kernels for " + family);
  auto options = std::make_shared<BenchProblemArguments>();
  options->matrix_family = family;
  add_size(*command, "--rows", options->rows, "Rows of the matrix");
  add_size(*command, "--columns", options->columns, "Columns of the matrix");
  add_common_options(*command, options, chosen);
}

}  // namespace morton::cli
