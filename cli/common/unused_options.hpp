// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/options.hpp"
#include "morton/dtype.hpp"

namespace morton::cli {

/// What the kernels that run have taken notice of.
struct UsedChoices {
  std::vector<std::string> work_groups;  ///< "4x16" of a step, or "4x16, 64" of several
  std::vector<DType> stored;             ///< types in which operands are held
  std::vector<std::string> kernels;      ///< their names
};

/// Throws CLI::ValidationError for an option or argument of `command` that was given though it
/// reads none but `read` ("--format"); `reader` is the command line that does not.
void refuse_unread(const CLI::App& command, const std::vector<std::string>& read,
                   const std::string& reader);

/// Throws UsageError for --use and --set of a family of problems that is neither `family`, which is
/// measured, nor that of any of these kernels.
void refuse_foreign(const KernelOptions& options, const std::string& family,
                    const std::vector<std::string>& kernels);

/// A line on --sums where it is f16 and no kernel of these steps adds up so; else "".
[[nodiscard]] std::string unused_sums(const CompileOptions& options,
                                      const std::vector<StepInfo>& steps);

/// One line for each of --use, --local, --precision and --sums that was given and that nothing
/// uses.
[[nodiscard]] std::vector<std::string> unused_of(const KernelOptions& options,
                                                 const UsedChoices& used);

}  // namespace morton::cli
