// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "bench/bench_report.hpp"
#include "bench/cell_budget.hpp"
#include "bench/problem_options.hpp"
#include "morton/tools/peak.hpp"

namespace morton::cli {

/// What problems that are measured one after the other have in common.
struct Bench {
  Device device;
  CellBudget budget;
  std::optional<PeakProbe> peak = std::nullopt;  ///< made when first needed
  std::string label = "";                        ///< before what the progress says
};

/// The contenders for one problem with their samples.
struct MeasuredProblem {
  Field field;
  Setting setting;
};

/// Checks all who are asked for, then lets them take turns. `peers` multiply by `shape`.
[[nodiscard]] MeasuredProblem measure_problem(const SingleProblem& problem, const GemmShape& shape,
                                              const BenchProblemArguments& options, Bench& bench);

}  // namespace morton::cli
