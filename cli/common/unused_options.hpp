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
};

/// Throws CLI::ValidationError for an option or argument of `command` that was given though it
/// reads none but `read` ("--format"); `reader` is the command line that does not.
void refuse_unread(const CLI::App& command, const std::vector<std::string>& read,
                   const std::string& reader);

/// One line for each of --local and --precision that was given and that nothing uses.
[[nodiscard]] std::vector<std::string> unused_of(const KernelOptions& options,
                                                 const UsedChoices& used);

}  // namespace morton::cli
