// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "check/compare_arguments.hpp"

namespace morton::cli {

/// --against, --data, --examples, --mean and --deviation.
void add_options(CLI::App& command, OtherModel& against);

/// Throws UsageError for options that were given and that this kind of comparison does not read.
void refuse_unread_of(const CLI::App& command, const OtherModel& against);

/// `compare MODEL --against FILE`. Returns the exit status.
[[nodiscard]] int compare_models(const CompareModelArguments& options);

}  // namespace morton::cli
