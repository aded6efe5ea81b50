// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "morton/message.hpp"
#include "morton/plan_choices.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// `printer` writes the settings that its reasons name.
[[nodiscard]] MORTON_FOR_TOOLS std::string print(const Plan& plan, PlanDetail detail,
                                                 SettingPrinter printer = print_setting);

}  // namespace morton::plan
