// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/rooms.hpp"

namespace morton::plan {

/// The sizes (extents, structure, parameters) of problems that show what a family's kernels do, the
/// usual one first; the others are for kernels that compute only some problems. `given` replaces
/// sizes, and what follows from them follows. Throws UsageError for a name that the family does not
/// have, or sizes that make no problem.
[[nodiscard]] std::vector<Environment> example_sizes(const std::string& family,
                                                     const Environment& given);

}  // namespace morton::plan
