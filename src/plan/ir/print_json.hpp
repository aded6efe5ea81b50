// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/files/json_reader.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "morton/message.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// The plan for programs: steps with their arguments, values, blocks. `printer` writes the settings
/// that its reasons name.
[[nodiscard]] MORTON_FOR_TOOLS Json to_json(const Plan& plan,
                                            SettingPrinter printer = print_setting);

}  // namespace morton::plan
