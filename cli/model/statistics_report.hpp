// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "common/output.hpp"
#include "morton/tools/build.hpp"
#include "morton/tools/compiler_statistics.hpp"

namespace morton::cli {

/// The statistics of a build for launches without a global offset; nothing where the compiler
/// printed none. Throws ModelError for a text that is not as Mesa prints it.
std::optional<CompilerStatistics> statistics_of(const KernelBuild& build);

/// For people, line by line.
std::string statistics_text(const CompilerStatistics& statistics);

/// All fields, by their names in CompilerStatistics and CodeCost.
Json statistics_json(const CompilerStatistics& statistics);

}  // namespace morton::cli
