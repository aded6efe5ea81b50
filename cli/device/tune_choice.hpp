// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace morton::cli {

/// Where a model's tuning keeps what it found until the network was measured with it: a file beside
/// the journals, the same for the same `job`, so that a run that was killed finds it again. Throws
/// UsageError where no cache folder is known.
[[nodiscard]] std::filesystem::path findings_file(const std::string& cache_dir,
                                                  const std::string& job);

/// The tuning file's text with the records of these kernels alone; a kernel of batches counts as
/// the one that it repeats. Verdicts stay: they are true of any plan.
[[nodiscard]] std::string records_of(const std::string& text, const std::set<std::string>& kernels);

}  // namespace morton::cli
