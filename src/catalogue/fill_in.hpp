// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/algebra/expression.hpp"
#include "base/for_tools.hpp"

namespace morton::catalogue {

/// Replaces each `{expression}` of a layout's text by its value under these values of tunables.
/// Throws ModelError for what does not parse and for a name without a value.
[[nodiscard]] MORTON_FOR_TOOLS std::string fill_in(const std::string& text,
                                                   const Environment& tunables);

}  // namespace morton::catalogue
