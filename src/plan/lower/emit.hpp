// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// The schedule as a plan: instances, launch sizes, arguments, programs, and where each value lies.
/// Throws UnsupportedError for what kernels cannot index.
[[nodiscard]] Plan emit(const Schedule& schedule, const CandidateLists& candidates,
                        const PlanContext& context);

/// The constant that tells a kernel which takes its work (Entry::takes_work) what to compute.
[[nodiscard]] Value work_value(std::string name, const InstanceSpec& spec);

/// Adds to the plan the kernels of another of the same model on the same device, so that its
/// programs hold them too. Returns how many were new.
int add_instances(Plan& plan, const Plan& other);

}  // namespace morton::plan
