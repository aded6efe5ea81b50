// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "bench_report.hpp"
#include "commands.hpp"
#include "contender.hpp"
#include "inputs.hpp"
#include "morton/error.hpp"
#include "morton/peak.hpp"
#include "options.hpp"
#include "output.hpp"
#include "single_problem.hpp"
#include "statistics.hpp"
#include "terminal.hpp"

namespace morton::cli {
namespace {

constexpr const char* kFooter =
    R"(Every kernel is checked first: on small integers, whose result must be exact, and on random
numbers, whose result must lie within the error bound; a wrong one has no figures, and the status is 1.
Then all take turns. `kernel` is the device's own clock of the computing steps; `packed` the host's clock
of calls back to back, with packing and unpacking. The figures are medians. `peak` is measured in the
same turns: multiply-adds in registers.

Examples:
  morton bench gemm --m 1000 --n 1000 --k 1000 --all
  morton bench gemm --m 64 --n 64 --k 64 --use gemm=gemm.rm_rm --local 8x8 --format json
  morton bench bias --rows 1000 --columns 1000 --all)";

struct Options {
  std::string family;
  std::int64_t m = 0, n = 0, k = 0, rows = 0, columns = 0;
  bool transpose_a = false, transpose_b = false, all = false;
  DeviceOptions device;
  KernelOptions kernels;
  MeasureOptions measure;
  ResultOptions result;
};

SingleProblem problem_of(const Options& options) {
  if (options.family != "gemm") {
    return matrix_problem(options.family, options.rows, options.columns);
  }
  using Order = GemmShape::Order;
  GemmShape shape{options.m, options.n, options.k};
  shape.lhs = options.transpose_a ? Order::transposed : Order::plain;
  shape.rhs = options.transpose_b ? Order::transposed : Order::plain;
  return gemm_problem(shape);
}

/// Lets the contenders take turns until the time is over, or `iterations` rounds are done.
void take_turns(Field& field, Setting& setting, const MeasureOptions& options) {
  // Few samples say nothing of the spread, so slow kernels get more time than was asked for.
  constexpr std::int64_t kLeastRounds = 5;
  const double duration_ms = parse_duration_ms(options.duration);
  PeakProbe probe(setting.device);
  setting.peak_kind = probe.description();
  Progress progress("measuring");
  const Stopwatch watch;
  for (std::int64_t round = 0;; ++round) {
    const std::int64_t goal = options.iterations > 0 ? options.iterations : kLeastRounds;
    const double rounds_done = static_cast<double>(round) / static_cast<double>(goal);
    const double time_done = options.iterations > 0 ? 1.0 : watch.ms() / duration_ms;
    if (rounds_done >= 1.0 && time_done >= 1.0) return;
    setting.peak_gflops.push_back(probe.sample_gflops());
    for (std::size_t i = 0; i < field.contenders.size(); ++i) {
      field.contenders[i]->sample();
      const double part = static_cast<double>(i) / static_cast<double>(field.contenders.size());
      progress.update(std::min(rounds_done + part / static_cast<double>(goal), time_done));
    }
  }
}

int bench(const Options& options) {
  CompileOptions compile = compile_options(options.kernels);
  const SingleProblem problem = problem_of(options);
  Setting setting{problem, kernels_of(problem.family, compile.catalogue_files),
                  open_device(options.device)};
  const std::uint64_t seed = options.measure.seed;
  using Rule = Expectation::Rule;
  const Expectation integers(problem, integer_inputs(problem, seed),
                             problem.exact_on_integers ? Rule::exact : Rule::bounded, seed);
  const Expectation reals(problem, random_inputs(problem.model.inputs(), seed), Rule::bounded,
                          seed);
  setting.coverage = fmt::format("integers{}, {}; random numbers within the error bound, {}",
                                 problem.exact_on_integers ? " exactly" : "", integers.coverage(),
                                 reals.coverage());
  Field field =
      make_field(problem, setting.device, compile,
                 options.all ? Selection::every : Selection::as_asked, {&integers, &reals});
  take_turns(field, setting, options.measure);
  sort_by_speed(field);
  emit(report_of(field, setting, options.result.format), options.result.path);
  for (const auto& [name, why] : field.failed) spdlog::error("{}: {}", name, why);
  return field.failed.empty() ? 0 : kCheckFailed;
}

}  // namespace

void add_bench_problem(CLI::App& bench_command, const std::string& family, Action& chosen) {
  const bool gemm = family == "gemm";
  CLI::App* command = bench_command.add_subcommand(
      family, gemm ? "Measure kernels for a matrix product" : "Measure kernels for " + family);
  command->footer(kFooter);
  auto options = std::make_shared<Options>();
  options->family = family;
  if (gemm) {
    add_size(*command, "--m", options->m, "Rows of the result");
    add_size(*command, "--n", options->n, "Columns of the result");
    add_size(*command, "--k", options->k, "Terms of each sum");
    command->add_flag("--trans-a", options->transpose_a, "The left operand is held transposed");
    command->add_flag("--trans-b", options->transpose_b, "The right operand is held transposed");
  } else {
    add_size(*command, "--rows", options->rows, "Rows of the matrix");
    add_size(*command, "--columns", options->columns, "Columns of the matrix");
  }
  command->add_flag("--all", options->all, "Every kernel and recipe of the family that can");
  add_options(*command, options->kernels);
  add_options(*command, options->measure);
  add_options(*command, options->device);
  add_options(*command, options->result,
              {{"table", Format::table},
               {"md", Format::md},
               {"json", Format::json},
               {"jsonl", Format::jsonl},
               {"csv", Format::csv}});
  command->callback([options, &chosen] { chosen = [options] { return bench(*options); }; });
}

}  // namespace morton::cli
