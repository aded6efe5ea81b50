// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// Throws InternalError: the plan is wrong.
[[noreturn]] void fail_plan(const std::string& what);

/// All steps, those of loading first.
[[nodiscard]] std::vector<const Step*> all_steps(const Plan& plan);

/// Images that are filled once are of values that never change.
void verify_images(const Plan& plan);
/// Devices take the work-groups of all launches.
void verify_launches(const Plan& plan, const Devices& devices);

}  // namespace morton::plan
