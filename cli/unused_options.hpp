// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "morton/dtype.hpp"
#include "options.hpp"

namespace morton::cli {

/// What the kernels that run have taken notice of.
struct UsedChoices {
  std::vector<std::string> work_groups;  ///< "4x16" of a step, or "4x16, 64" of several
  std::vector<DType> stored;             ///< types in which operands are held
};

/// One line for each of --local and --precision that was given and that nothing uses.
[[nodiscard]] std::vector<std::string> unused_of(const KernelOptions& options,
                                                 const UsedChoices& used);

}  // namespace morton::cli
