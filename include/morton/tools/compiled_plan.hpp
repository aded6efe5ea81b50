// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "morton/compile.hpp"
#include "morton/export.hpp"

namespace morton {

/// The plan of a compiled model for programs, as `plan_json` of morton/compile.hpp gives it.
[[nodiscard]] MORTON_API std::string plan_json(const CompiledModel& model,
                                               SettingPrinter printer = print_setting);

}  // namespace morton
