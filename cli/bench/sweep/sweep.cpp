// SPDX-License-Identifier: Apache-2.0
#include "bench/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/comparison.hpp"
#include "bench/measured_problem.hpp"
#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kPlansChoice = "the plan's choice";

Statistics rate_of(const std::vector<double>& samples_ms, double work) {
  std::vector<double> rates;
  for (const double ms : samples_ms) rates.push_back(work / (ms * 1e6));
  return statistics_of(rates);
}

SweepCell cell_of(const Contender& contender, const Setting& setting) {
  SweepCell cell{contender.name()};
  cell.figures = figures_of(contender, setting);
  cell.rate = rate_of(contender.samples().call, setting.problem.work());
  cell.error = contender.error();
  cell.about = contender.about();
  return cell;
}

SweepRow row_of(const SingleProblem& problem) {
  SweepRow row;
  row.size = problem.size;
  row.facts = problem.facts;
  row.flop = problem.flop;
  row.bytes = problem.bytes;
  return row;
}

/// What was measured, without what the device keeps for it.
SweepRow row_of(const MeasuredProblem& measured) {
  using Verdict = SweepCell::Verdict;
  const auto& [field, setting] = measured;
  SweepRow row = row_of(setting.problem);
  row.coverage = setting.coverage;
  if (!setting.peak_gflops.empty()) row.peak_gflops = median_of(setting.peak_gflops);
  for (const auto& contender : field.contenders) row.cells.push_back(cell_of(*contender, setting));
  for (const auto& [name, why] : field.cut) {
    const auto cell = std::ranges::find(row.cells, name, &SweepCell::kernel);
    if (cell != row.cells.end()) {
      cell->why = why;
    } else {
      row.cells.push_back({name, Verdict::not_run, why});
    }
  }
  for (const auto& [name, why] : field.failed) row.cells.push_back({name, Verdict::failed, why});
  for (const auto& [name, why] : field.rejected) {
    row.cells.push_back({name, Verdict::rejected, why});
  }
  return row;
}

/// A size at which the plan itself has no answer is a row that says why.
SweepRow measure_row(const SingleProblem& problem, const GemmShape& shape,
                     const BenchProblemArguments& options, Bench& bench, Sweep& sweep) {
  using Verdict = SweepCell::Verdict;
  const auto without_figures = [&](Verdict verdict, const Error& error) {
    SweepRow row = row_of(problem);
    row.cells.push_back({kPlansChoice, verdict, message_of(error)});
    return row;
  };
  try {
    const MeasuredProblem measured = measure_problem(problem, shape, options, bench);
    for (const std::string& line : above_peak(measured.field, measured.setting)) {
      sweep.above_peak.push_back(problem.size + ": " + line);
    }
    sweep.buffers = measured.setting.buffers;
    if (!measured.setting.peak_kind.empty()) sweep.peak_kind = measured.setting.peak_kind;
    return row_of(measured);
  } catch (const UnsupportedError& error) {
    return without_figures(Verdict::rejected, error);
  } catch (const DeviceError& error) {
    return without_figures(Verdict::failed, error);
  }
}

/// Throws UsageError where nobody could compute anything.
void require_any(const Sweep& sweep) {
  std::string reasons;
  for (const SweepRow& row : sweep.rows) {
    for (const SweepCell& cell : row.cells) {
      if (cell.verdict != SweepCell::Verdict::rejected) return;
      reasons += fmt::format("\n{}, {}: {}", row.size, cell.kernel, cell.why);
    }
  }
  throw UsageError(fmt::format("no kernel that was asked for can compute any of the sizes{}{}",
                               reasons.empty() ? "" : ":", reasons));
}

}  // namespace

int bench_sweep(const BenchProblemArguments& options) {
  const std::vector<SingleProblem> problems = problems_of(options);
  const std::vector<GemmShape> shapes =
      options.matrix_family.empty() ? shapes_of(options) : std::vector<GemmShape>(problems.size());
  Bench bench{open_device(options.device), CellBudget(options.samples.budget)};
  Sweep sweep{.family = problems.front().family, .device = bench.device};
  sweep.by_operations = problems.front().rating == SingleProblem::Rating::by_operations;
  sweep.budget = options.samples.budget;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    bench.label = fmt::format("{} ({} of {}): ", problems[i].size, i + 1, problems.size());
    log::debug("{}", bench.label + "begins");
    sweep.rows.push_back(measure_row(problems[i], shapes[i], options, bench, sweep));
  }
  require_any(sweep);
  emit(report_of(sweep, options.result.format), options.result.path);
  bool failed = false;
  for (const SweepRow& row : sweep.rows) {
    for (const SweepCell& cell : row.cells) {
      if (cell.verdict != SweepCell::Verdict::failed) continue;
      failed = true;
      log::error("{}, {}: {}", row.size, cell.kernel, cell.why);
    }
  }
  for (const std::string& line : sweep.above_peak) log::error("{}", line);
  return failed || !sweep.above_peak.empty() ? kCheckFailed : 0;
}

}  // namespace morton::cli
