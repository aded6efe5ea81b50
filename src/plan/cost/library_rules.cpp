// SPDX-License-Identifier: Apache-2.0
#include "plan/cost/library_rules.hpp"

#include "catalogue/library.hpp"
#include "plan/cost/cost.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/plan_options.hpp"

namespace morton::plan {

bool runs_on_host(const Entry& entry) {
  return !entry.call.library.empty() &&
         find_library(entry.call.library)->place == Library::Place::host;
}

std::optional<Reason> missing_library(const Entry& entry, const PlanOptions& options) {
  if (entry.call.library.empty() || options.libraries.contains(entry.call.library))
    return std::nullopt;
  return MissingLibrary{entry.call.library};
}

std::optional<Reason> why_not_on_host(const Entry& entry, const DeviceInfo& device,
                                      const PlanOptions& options) {
  if (!runs_on_host(entry) || is_named(entry.name, entry.family, options)) return std::nullopt;
  if (options.host_steps == PlanOptions::HostSteps::where_named) {
    return NotConsidered{NotConsidered::Why::host_is_waited_for};
  }
  if (host_is_measured(device)) return std::nullopt;
  return NotConsidered{NotConsidered::Why::host_not_measured};
}

}  // namespace morton::plan
