// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "bench/bench_report.hpp"
#include "bench/comparison.hpp"
#include "bench/measured_problem.hpp"
#include "bench/problem_options.hpp"
#include "bench/sweep/sweep.hpp"
#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/output.hpp"

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

--squares, --shapes and several numbers in --batch give a table: a row for each size, a column for each
kernel. With --budget a kernel gets fewer samples (`cut`), or none at a size that would take too long (`not
run`). The table says so.

Examples:
  morton bench gemm --m 1000 --n 1000 --k 1000 --all
  morton bench gemm --m 512 --n 512 --k 512 --peer openblas,onednn,clblast
  morton bench gemm --m 64 --n 64 --k 64 --use gemm=gemm.rm_rm --local 8x8 --format json
  morton bench gemm --m 512 --n 512 --k 512 --type u8 --all
  morton bench gemm --squares 96,192,384 --kernels rm_rm,rm_cm -n 10 --budget 20s
  morton bench gemm --squares 96,128 --batch 1,2,3,4 --use gemm=gemm.tile
  morton bench bias --rows 1000 --columns 1000 --all
  morton bench bias --shapes 1024x1024,256x4096,4096x256 --all --format csv)";

int bench_problem(const BenchProblemArguments& options) {
  const SingleProblem problem = problems_of(options).front();
  const GemmShape shape = options.matrix_family.empty() ? shapes_of(options).front() : GemmShape{};
  Bench bench{open_device(options.device), CellBudget(options.samples.budget)};
  MeasuredProblem measured = measure_problem(problem, shape, options, bench);
  Field& field = measured.field;
  require_any(field, problem, measured.setting.kernels);
  sort_by_speed(field);
  emit(report_of(field, measured.setting, options.result.format), options.result.path);
  for (const auto& [name, why] : field.failed) log::error("{}: {}", name, why);
  const std::vector<std::string> impossible = above_peak(field, measured.setting);
  for (const std::string& line : impossible) log::error("{}", line);
  return field.failed.empty() && impossible.empty() ? 0 : kCheckFailed;
}

void add_command(CLI::App& command, std::shared_ptr<BenchProblemArguments> options,
                 Action& chosen) {
  command.footer(kBenchProblemFooter);
  add_options(command, *options);
  command.callback([options, &chosen] {
    if (is_sweep(*options)) {
      chosen = [options] { return bench_sweep(*options); };
    } else {
      chosen = [options] { return bench_problem(*options); };
    }
  });
}

}  // namespace

void add_bench_gemm(CLI::App& bench_command, Action& chosen) {
  CLI::App* command = bench_command.add_subcommand("gemm", "Measure kernels for a matrix product");
  add_command(*command, std::make_shared<BenchProblemArguments>(), chosen);
}

void add_bench_matrix(CLI::App& bench_command, const std::string& family, Action& chosen) {
  CLI::App* command = bench_command.add_subcommand(family, "Measure kernels for " + family);
  auto options = std::make_shared<BenchProblemArguments>();
  options->matrix_family = family;
  add_command(*command, options, chosen);
}

}  // namespace morton::cli
