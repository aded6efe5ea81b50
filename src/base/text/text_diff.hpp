// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/for_tools.hpp"

namespace morton {

/// How text `after` differs from `before`, line by line: "-" before lines that are gone, "+" before
/// new ones, " " before up to `context` unchanged lines around them, "@@" with the numbers of both
/// texts' lines above each part (as `diff -u` prints it, without the names of files). Empty where
/// they are the same. The least number of lines changes, except in parts of more than 8,000 lines.
[[nodiscard]] MORTON_FOR_TOOLS std::string text_diff(std::string_view before,
                                                     std::string_view after, int context);

}  // namespace morton
