// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "morton/export.hpp"

namespace morton {

/// "; did you mean 'table-8.2'?" where somebody who wrote `given` may have meant one of `names`, or
/// several of them; else "".
[[nodiscard]] MORTON_API std::string did_you_mean(const std::string& given,
                                                  const std::vector<std::string>& names);

}  // namespace morton
