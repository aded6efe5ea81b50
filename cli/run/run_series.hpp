// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "run/file_series.hpp"
#include "run/run_arguments.hpp"
#include "run/run_report.hpp"

namespace morton::cli {

/// Runs the model on each file of a series, several at a time where the batch is larger, and writes
/// a record of each. Files that cannot be read have a record too; ModelError at the end tells how
/// many. Returns the exit status.
int run_series(const RunArguments& options, const FileSeries& series, const GivenModel& model,
               Ranking ranking);

}  // namespace morton::cli
