// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "run/profile_report.hpp"

namespace morton::cli {

/// The report as a page for a browser. `plan`: the model's plan as JSON (plan_json of
/// morton/tools/compiled_plan.hpp).
[[nodiscard]] std::string page_of(const Profile& profile, const ProfileSetting& setting,
                                  const std::string& plan);

}  // namespace morton::cli
