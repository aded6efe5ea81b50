// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/for_tools.hpp"

namespace morton {

/// Of `names`, those that somebody may have meant who wrote `given`, the nearest first, at most
/// three: the same but for upper and lower case, or two letters apart at most and not all of a
/// short name.
[[nodiscard]] MORTON_FOR_TOOLS std::vector<std::string> near_names(
    std::string_view given, const std::vector<std::string_view>& names);

}  // namespace morton
